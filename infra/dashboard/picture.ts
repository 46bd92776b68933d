/**
 * Draws the dashboard as an SVG: its widgets at their places, with their titles and the names of
 * what they show. The curves are made up.
 */

import { createHash } from 'node:crypto';
import type { DashboardBody, MetricOptions, Widget } from './dashboard-body.ts';

/** Pixels. */
const column = 42;
const row = 25;
const gap = 6;
const line = 15;
const chip = { width: 160, height: 20 };

const colours = ['#1f5fb4', '#c2570c', '#1b7548', '#a3257a', '#6b45a8', '#8a6100'];

/** The picture, the same for the same body. */
export function drawDashboard({ widgets }: DashboardBody): string {
  const drawn = widgets.map((widget) => (widget.type === 'alarm' ? drawAlarms(widget) : drawGraph(widget)));
  // A widget that needs more room than CloudWatch gives it, which scrolls there, moves those below
  // it.
  const extra = widgets.map((widget, at) => drawn[at]!.height - widget.height * row);
  const topOf = (widget: Widget) =>
    widget.y * row +
    widgets.reduce((sum, other, at) => sum + (other.y < widget.y && other.width === 24 ? extra[at]! : 0), 0);
  const width = 24 * column;
  const height = Math.max(...widgets.map((widget, at) => topOf(widget) + drawn[at]!.height));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="11" fill="#1d2433" role="img" aria-label="The operator’s dashboard">`,
    `<rect width="${width}" height="${height}" fill="#f3f6fa"/>`,
    ...widgets.map(
      (widget, at) => `<g transform="translate(${widget.x * column} ${topOf(widget)})">\n${drawn[at]!.svg}\n</g>`,
    ),
    '</svg>',
    '',
  ].join('\n');
}

interface Drawing {
  readonly height: number;
  readonly svg: string;
}

function frame({ width, properties: { title } }: Widget, height: number, content: readonly string[]): Drawing {
  const [innerWidth, innerHeight] = [width * column - gap, height - gap];
  const svg = [
    `<rect x="${gap / 2}" y="${gap / 2}" width="${innerWidth}" height="${innerHeight}" rx="4" fill="#fff" stroke="#d8dee8"/>`,
    text(14, 22, title, `font-weight="600" font-size="${title.length > 42 ? 11 : 12.5}"`),
    ...content,
  ];
  return { height, svg: svg.join('\n') };
}

function drawAlarms(widget: Widget): Drawing {
  const alarms = widget.properties.alarms ?? [];
  const perRow = Math.floor((widget.width * column - 20) / chip.width);
  const chips = alarms.map((name, at) => {
    const [x, y] = [14 + (at % perRow) * chip.width, 32 + Math.floor(at / perRow) * (chip.height + 4)];
    return [
      `<rect x="${x}" y="${y}" width="${chip.width - 6}" height="${chip.height}" rx="3" fill="#e6f4ec"/>`,
      `<circle cx="${x + 10}" cy="${y + chip.height / 2}" r="4" fill="#1b7548"/>`,
      text(x + 19, y + 14, name, 'font-size="9.5"'),
    ].join('');
  });
  const needed = 44 + Math.ceil(alarms.length / perRow) * (chip.height + 4);
  return frame(widget, Math.max(widget.height * row, needed), chips);
}

function drawGraph(widget: Widget): Drawing {
  const height = widget.height * row;
  const names = (widget.properties.metrics ?? []).flatMap(nameOf);
  const legend = drawLegend(names, widget.width * column - 28, height - 14);
  const plot = { left: 14, top: 34, width: widget.width * column - 34, height: legend.top - 34 - 14 };
  const grid = [0, 0.5, 1].map((part) => {
    const y = plot.top + part * plot.height;
    return `<path d="M${plot.left} ${y}h${plot.width}" stroke="#e6eaf1"/>`;
  });
  const curves = names.slice(0, colours.length).map((name, at) => {
    const points = madeUp(`${widget.properties.title} ${name}`).map((value, index, { length }) => {
      const x = plot.left + (index / (length - 1)) * plot.width;
      return `${round(x)} ${round(plot.top + (1 - value) * plot.height)}`;
    });
    return `<path d="M${points.join('L')}" fill="none" stroke="${colours[at]}" stroke-width="1.4" stroke-linejoin="round"/>`;
  });
  return frame(widget, height, [...grid, ...curves, ...legend.svg]);
}

/** How CloudWatch names what a graph shows; nothing for a metric that only feeds an expression. */
function nameOf(metric: readonly (string | MetricOptions)[]): string[] {
  const options = metric.at(-1);
  const { label, stat = '', expression, visible, yAxis } = typeof options === 'object' ? options : {};
  if (visible === false) return [];
  const searched = expression === undefined ? undefined : /MetricName="(\w+)"/.exec(expression)?.[1];
  const name =
    label ??
    (searched === undefined ? `${metric[1]}${/^p\d/.test(stat) ? ` ${stat}` : ''}` : `${searched} of each device`);
  return [yAxis === 'right' ? `${name} (right)` : name];
}

/** Names side by side in up to three lines that end at `bottom`. What has no room is counted. */
function drawLegend(names: readonly string[], width: number, bottom: number) {
  const placed: { readonly name: string; readonly x: number; readonly line: number }[] = [];
  let [x, current] = [0, 0];
  for (const name of names) {
    const needed = 26 + name.length * 6.4;
    if (x + needed > width && x > 0) [x, current] = [0, current + 1];
    if (current === 2 && x + needed + 70 > width && names.length > placed.length + 1) break;
    placed.push({ name, x, line: current });
    x += needed;
  }
  const lines = current + 1;
  const top = bottom - (lines - 1) * line;
  const missing = names.length - placed.length;
  const svg = placed.map(({ name, x: left, line: at }, index) => {
    const [markX, y] = [14 + left, top + at * line];
    const colour = colours[index] ?? '#8894a8';
    return `<rect x="${markX}" y="${y - 8}" width="8" height="8" fill="${colour}"/>${text(markX + 12, y, name)}`;
  });
  return { top, svg: missing === 0 ? svg : [...svg, text(14 + x, bottom, `and ${missing} more`, 'fill="#515c70"')] };
}

/** Values between 0 and 1 that look like a metric's, always the same for one seed. */
function madeUp(seed: string): number[] {
  const bytes = [...createHash('sha512').update(seed).digest()];
  const base = 0.1 + (bytes[0]! / 255) * 0.5;
  return bytes.slice(1, 49).map((byte) => Math.min(1, base + (byte / 255 - 0.5) * 0.16 + (byte > 250 ? 0.25 : 0)));
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${round(x)}" y="${round(y)}"${attributes === '' ? '' : ` ${attributes}`}>${escaped}</text>`;
}

const round = (value: number) => Math.round(value * 10) / 10;
