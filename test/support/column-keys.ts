/** Sort keys of the table Columns, by whether a new item with such a key reaches the consumer. */
export const columnKeys = {
  /** Changes of a batch and of jobs, and blocks of facets: their numbers begin with a digit. */
  reaching: ['b#hc#0000003', 'j#hc#bbbbbbbb-0000-4000-8000-000000000000#0000001', 'b#f#0000027', 'j#f#0000000'],
  others: ['b#hc', 'b#f#s#0000000', 'b#n#0000027', 'b#head', 'event#b#f#0', 'turns'],
} as const;
