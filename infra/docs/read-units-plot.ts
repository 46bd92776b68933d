import type { Figures } from './performance.ts';

const [width, height] = [720, 380];
const plot = { left: 60, right: 500, top: 30, bottom: 320 };
const lines = [
  { name: 'order_by jobs_count', color: '#c2410c' },
  { name: 'status, 85 % match', color: '#1d4ed8' },
  { name: 'unfiltered, first page', color: '#15803d' },
] as const;

/** An SVG of the read units that a page of 100 costs, by the number of the user's batches. */
export function readUnitsPlot(lists: NonNullable<Figures['lists']>): string {
  const sizes = Object.keys(lists)
    .map(Number)
    .sort((a, b) => a - b);
  const [first = 1, last = 1] = [sizes[0], sizes.at(-1)];
  const unitsOf = (name: string, size: number) =>
    lists[String(size)]?.find((figure) => figure.name === name)?.readUnits ?? 0;
  const highest = Math.max(...lines.flatMap(({ name }) => sizes.map((size) => unitsOf(name, size))));
  const top = Math.ceil(highest / 25) * 25;
  const x = (size: number) =>
    round(plot.left + ((plot.right - plot.left) * Math.log(size / first)) / Math.log(last / first || 2));
  const y = (units: number) => round(plot.bottom - ((plot.bottom - plot.top) * units) / top);
  const text = (content: string, at: readonly [number, number], rest = '') =>
    `<text x="${at[0]}" y="${at[1]}" ${rest}>${content}</text>`;
  const steps = Array.from({ length: top / 25 + 1 }, (_, step) => step * 25);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    '<title>Read units of a page of 100, by the number of batches</title>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...steps.flatMap((units) => [
      `<path d="M${plot.left} ${y(units)}H${plot.right}" stroke="#ddd"/>`,
      text(String(units), [plot.left - 8, y(units) + 4], 'text-anchor="end"'),
    ]),
    ...sizes.map((size) => text(size.toLocaleString('en'), [x(size), plot.bottom + 20], 'text-anchor="middle"')),
    text('batches of the user', [(plot.left + plot.right) / 2, plot.bottom + 44], 'text-anchor="middle"'),
    text('read units', [plot.left - 8, plot.top - 12], 'text-anchor="middle"'),
    ...lines.flatMap(({ name, color }) => {
      const points = sizes.map((size) => [x(size), y(unitsOf(name, size))] as const);
      return [
        `<polyline points="${points.map((point) => point.join()).join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`,
        ...points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${color}"/>`),
        text(name, [plot.right + 12, y(unitsOf(name, last)) + 4], `fill="${color}"`),
      ];
    }),
    '</svg>\n',
  ].join('\n');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
