/** A number as the tables show it, with one decimal unless that is zero. */
export function figure(value: number | undefined): string {
  if (value === undefined) return '';
  return Number.isInteger(value) || value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
