/** Aligned columns: the first to the left, the others to the right. */
export function textTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, at) => Math.max(heading.length, ...rows.map((row) => (row[at] ?? '').length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(headings), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
