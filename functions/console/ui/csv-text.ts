type Cell = string | number | undefined;

/**
 * Rows as RFC 4180 has them; texts are quoted. Numbers are written so that the same number is read
 * again.
 */
export function csvText(rows: readonly (readonly Cell[])[]): string {
  return [...rows, []].map((row) => row.map(cellOf).join(',')).join('\r\n');
}

/**
 * Spreadsheets would take a text that begins with one of these for a formula: an apostrophe before
 * it makes it a text.
 */
function cellOf(value: Cell): string {
  if (typeof value !== 'string') return value === undefined ? '' : String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return `"${safe.replaceAll('"', '""')}"`;
}
