/** A Markdown table. Its first column is aligned to the left, the others to the right. */
export function textTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, at) =>
    Math.max(heading.length, 3, ...rows.map((row) => (row[at] ?? '').length)),
  );
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const aligned = (cells: readonly string[]) =>
    line(widths.map((width, at) => (cells[at] ?? '')[at === 0 ? 'padEnd' : 'padStart'](width)));
  const rule = line(widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)));
  return [aligned(headings), rule, ...rows.map(aligned)].join('\n');
}
