/** The lists as arrays: what the service must answer, written without any of its code. */

type Row = Record<string, unknown>;
type Query = Record<string, unknown> & {
  order_by: string;
  order_by_direction: 'ASC' | 'DESC';
  limit: number;
  offset: number;
};

const specifiedOrder: Record<string, readonly unknown[]> = {
  queue_priority: ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'FREE'],
  origin: ['CLIENT', 'AZURE', 'OVH', 'UNKNOWN'],
};
const batchStatuses = ['PENDING', 'RUNNING', 'DONE', 'CANCELED', 'CANCELING', 'TIMED_OUT', 'ERROR', 'PAUSED'];
const jobStatuses = ['PENDING', 'RUNNING', 'DONE', 'ERROR', 'CANCELED', 'CANCELING'];

/** What the service answered, to be compared with `listOf`. */
export function answerOf({ items, total }: { items: readonly Row[]; total: number }) {
  return { ids: items.map(({ id }) => id), total };
}

/** How many rows that pass the filters have each status. */
export function countsOf(rows: readonly Row[], query: Query): Record<string, number> {
  const { ids } = listOf(rows, { ...query, offset: 0, limit: Number.MAX_SAFE_INTEGER });
  const found = new Set(ids);
  const statuses = rows.some((row) => 'runs' in row) ? jobStatuses : batchStatuses;
  const ofStatus = (status: string) => rows.filter((row) => row.status === status && found.has(row.id)).length;
  return Object.fromEntries(statuses.map((status) => [status, ofStatus(status)]));
}

/** The page's ids and the total. `rows` are in creation order. */
export function listOf(rows: readonly Row[], query: Query): { ids: unknown[]; total: number } {
  const isJob = rows.some((row) => 'runs' in row);
  const start = isJob ? 'start_timestamp' : 'start_datetime';
  const end = isJob ? 'end_timestamp' : 'end_datetime';
  const count = isJob ? 'runs' : 'jobs_count';
  const tests: Record<string, (row: Row, value: never) => boolean> = {
    id__starts_with: (row, value: string) => String(row.id).startsWith(value),
    created_after: (row, value: string) => (row.created_at as string) >= value,
    created_before: (row, value: string) => (row.created_at as string) <= value,
    open: (row, value) => row.open === value,
    tag: (row, value: string[]) => value.some((tag) => (row.tags as string[]).includes(tag)),
    has_errors: (row, value: boolean) => (row.jobs_count_per_status as { ERROR: number }).ERROR > 0 === value,
    errors: (row, value: boolean) => ((row.errors as string[] | null) ?? []).length > 0 === value,
    min_jobs: (row, value: number) => (row[count] as number) >= value,
    min_runs: (row, value: number) => row[count] !== null && (row[count] as number) >= value,
    max_jobs: (row, value: number) => (row[count] as number) <= value,
    max_runs: (row, value: number) => row[count] !== null && (row[count] as number) <= value,
    start_date: (row, value: string) => row[start] !== null && (row[start] as string) >= value,
    end_date: (row, value: string) => row[end] !== null && (row[end] as string) <= value,
  };
  const settings = new Set(['order_by', 'order_by_direction', 'limit', 'offset']);
  const matching = rows.filter((row) =>
    Object.entries(query).every(([name, value]) => {
      if (settings.has(name) || value === undefined) return true;
      const test = tests[name];
      return test ? test(row, value as never) : (value as unknown[]).includes(row[name]);
    }),
  );
  const ranked = matching.map((row, place) => ({ row, place, value: sortValue(row, query.order_by, isJob) }));
  const sign = query.order_by_direction === 'ASC' ? 1 : -1;
  ranked.sort((a, b) => {
    if (a.value === null || b.value === null) {
      return a.value === b.value ? sign * (a.place - b.place) : a.value === null ? 1 : -1;
    }
    return sign * (a.value < b.value ? -1 : a.value > b.value ? 1 : a.place - b.place);
  });
  const page = ranked.slice(query.offset, query.offset + query.limit);
  return { ids: page.map(({ row }) => row.id), total: matching.length };
}

/** The columns of the orders that are not named as what they sort by. */
const sortedBy: Record<string, Record<string, string>> = {
  batch: { start_date: 'start_datetime', end_date: 'end_datetime' },
  job: { start_date: 'start_timestamp', end_date: 'end_timestamp', ordered_id: 'creation_order' },
};

function sortValue(row: Row, name: string, isJob: boolean): string | number | null {
  if (name === 'complete') return row.open ? 0 : 1;
  const value = row[sortedBy[isJob ? 'job' : 'batch']![name] ?? name];
  if (name === 'status') return (isJob ? jobStatuses : batchStatuses).indexOf(String(value));
  const order = specifiedOrder[name];
  if (order !== undefined) return order.indexOf(value);
  return typeof value === 'boolean' ? Number(value) : (value as string | number | null);
}
