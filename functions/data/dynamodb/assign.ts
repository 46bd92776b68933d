/**
 * What follows `SET` in an update that gives attributes these values, and the values as it names
 * them. None of the names may be a word that DynamoDB reserves.
 */
export function assign(attributes: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(attributes);
  return {
    assignments: entries.map(([name]) => `${name} = :${name}`).join(', '),
    values: Object.fromEntries(entries.map(([name, value]) => [`:${name}`, value])),
  };
}
