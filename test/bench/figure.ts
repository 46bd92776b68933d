/** A number as tables show it: one digit after the point where there is something to show. */
export function figure(value: number | undefined): string {
  if (value === undefined) return '';
  return Number.isInteger(value) || value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
