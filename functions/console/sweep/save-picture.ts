/** A figure as a file that needs nothing else: on white, in the colors of the light theme. */

interface Entry {
  readonly name: string;
  /** The class of its curve. */
  readonly look: string;
}

export interface Picture {
  readonly drawing: SVGSVGElement;
  readonly title: string;
  readonly legend: readonly Entry[];
  readonly caption: string;
}

const svgName = 'http://www.w3.org/2000/svg';

/** In pixels. The margins are as on the page. */
const width = 760;
const margin = { left: 64, right: 24, top: 34, bottom: 54 };
const lineHeight = 19;

/** What may differ from element to element, and how it is called in CSS. */
const properties = [
  ...[
    'fill',
    'fill-opacity',
    'stroke',
    'stroke-width',
    'stroke-opacity',
    'stroke-dasharray',
    'stroke-linejoin',
    'opacity',
  ],
  ...['vector-effect', 'font-family', 'font-size', 'font-style', 'font-weight', 'text-anchor'],
];

/** The figure as the text of an SVG file. */
export function svgOf({ drawing, title, legend, caption }: Picture): string {
  const captionLines = wrap(caption, 112);
  const height = Number(drawing.getAttribute('height'));
  const top = margin.top + 38 + legend.length * lineHeight;
  const total = top + height + margin.bottom + captionLines.length * lineHeight;
  const root = element('svg', { width, height: total, viewBox: `0 0 ${width} ${total}` });
  root.append(
    text('title', {}, title),
    text('desc', {}, caption),
    element('rect', { class: 'paper', width, height: total }),
    text('text', { class: 'heading', x: 20, y: 26 }, title),
    ...legend.flatMap(({ name, look }, at) => [
      element('circle', { class: look, cx: 25, cy: 44 + at * lineHeight, r: 4.5 }),
      text('text', { class: 'bits', x: 36, y: 48 + at * lineHeight }, name),
    ]),
  );
  const plot = drawing.cloneNode(true) as SVGSVGElement;
  // What only the reader of the page sees.
  for (const each of plot.querySelectorAll('.guide, .tip')) each.remove();
  const size = { x: margin.left, y: top, width: width - margin.left - margin.right, height, overflow: 'visible' };
  for (const [name, value] of Object.entries(size)) plot.setAttribute(name, String(value));
  const lines = captionLines.map((line, at) =>
    text('text', { class: 'caption', x: 20, y: top + height + margin.bottom + at * lineHeight }, line),
  );
  root.append(plot, ...lines);
  // Styles are known of what is in the page. This place is out of sight, and in the light theme.
  const place = document.createElement('div');
  place.className = 'sweep-picture';
  place.append(root);
  document.body.append(place);
  resolveStyles(root);
  place.remove();
  return new XMLSerializer().serializeToString(root);
}

function resolveStyles(root: SVGSVGElement) {
  const drawn = [...root.querySelectorAll('*')].filter((each) => !['title', 'desc', 'g'].includes(each.tagName));
  const styles = drawn.map((each) => {
    const style = getComputedStyle(each);
    return properties.map((name) => [name, style.getPropertyValue(name)] as const);
  });
  for (const [at, each] of drawn.entries()) {
    for (const [name, value] of styles[at]!) if (value !== '' && value !== 'auto') each.setAttribute(name, value);
    if (each.tagName === 'svg') each.setAttribute('overflow', 'visible');
  }
  for (const each of root.querySelectorAll('[class]')) each.removeAttribute('class');
  root.removeAttribute('class');
}

function element<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | number>>,
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS(svgName, name);
  for (const [each, value] of Object.entries(attributes)) made.setAttribute(each, String(value));
  return made;
}

function text(
  name: 'text' | 'title' | 'desc',
  attributes: Readonly<Record<string, string | number>>,
  content: string,
): SVGElement {
  const made = element(name, attributes);
  made.textContent = content;
  return made;
}

function wrap(line: string, length: number): readonly string[] {
  const lines: string[] = [];
  for (const word of line.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= length) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** The same as a picture of points, twice as fine as the screen's. */
export async function pngOf(svg: string): Promise<Blob | undefined> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width * 2, height: image.height * 2 });
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? undefined), 'image/png'));
}
