import { download } from './basics.tsx';

/** What of a style a drawing needs to look the same anywhere: SVG knows each as an attribute. */
const looks =
  'fill fill-opacity stroke stroke-width stroke-opacity stroke-dasharray stroke-linejoin opacity vector-effect font-family font-size font-weight font-style letter-spacing text-anchor'.split(
    ' ',
  );

const space = 'http://www.w3.org/2000/svg';
const margin = 16;

/** Pixels of a file for each of the screen, across: enough for a slide and for print. */
const finer = 3;

/** Nothing of these is in a file: they are for the screen alone. */
const left = 'button, a, select, input, details, [hidden], .unseen';

/**
 * Offers a figure as a file `name.svg` or `name.png`: an SVG, or an element with several of them
 * and with text. It looks as it does now, in the present theme, and needs no other file: colors are
 * resolved, and letters stay text, in the fonts of the reader. What leads elsewhere or is
 * pressed (links, buttons) is left out.
 */
export async function saveFigure(figure: Element, name: string, format: 'svg' | 'png'): Promise<void> {
  const scale = format === 'svg' ? 1 : finer;
  const { text, width, height } = drawingOf(figure, scale);
  if (format === 'svg') return download(`${name}.svg`, 'image/svg+xml', text);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), {
    width: width * scale,
    height: height * scale,
  });
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const png = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
  if (png !== null) download(`${name}.png`, 'image/png', png);
}

/** `scale` is how much larger it will be drawn. */
function drawingOf(figure: Element, scale: number) {
  const isSeen = (each: Element) => each.closest(left) === null && each.getClientRects().length > 0;
  const outer = [figure, ...figure.querySelectorAll('svg')].filter(
    (each) => each instanceof SVGSVGElement && each.ownerSVGElement === null && isSeen(each),
  );
  // Marks and names of axes lie beside the box of their SVG.
  const boxes = outer.flatMap((each) => [...each.querySelectorAll('*')].map((part) => part.getBoundingClientRect()));
  const words = linesOf(figure, isSeen);
  const seen = [...boxes.filter(({ width, height }) => width > 0 || height > 0), ...words.map(({ box }) => box)];
  const [x, y] = [
    seen.reduce((least, box) => Math.min(least, box.left), Infinity) - margin,
    seen.reduce((least, box) => Math.min(least, box.top), Infinity) - margin,
  ];
  const width = Math.ceil(seen.reduce((most, { right }) => Math.max(most, right), x) - x + margin);
  const height = Math.ceil(seen.reduce((most, { bottom }) => Math.max(most, bottom), y) - y + margin);
  const drawing = element('svg', { width, height, viewBox: `0 0 ${width} ${height}` });
  drawing.append(element('rect', { width, height, fill: groundOf(figure) }));
  for (const each of outer) {
    const box = each.getBoundingClientRect();
    const copy = copyOf(each, scale);
    const place = { x: box.left - x, y: box.top - y, width: box.width, height: box.height, overflow: 'visible' };
    for (const [key, value] of Object.entries(place)) copy.setAttribute(key, String(value));
    drawing.append(copy);
  }
  for (const { text, box, parent, right } of words) {
    // Fonts for the screen have about a fifth of their height below the line.
    const line = element('text', { x: box.left - x, y: box.bottom - 0.21 * box.height - y });
    wear(line, parent, scale);
    // Another font may be wider.
    line.setAttribute('textLength', String(right - box.left));
    line.setAttribute('lengthAdjust', 'spacingAndGlyphs');
    line.setAttribute('fill', getComputedStyle(parent).color);
    line.textContent = text;
    drawing.append(line);
  }
  return { text: new XMLSerializer().serializeToString(drawing), width, height };
}

function element(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/** A copy that wears its style itself. */
function copyOf(drawn: Element, scale: number): Element {
  const copy = drawn.cloneNode(true) as Element;
  const [from, to] = [drawn, copy].map((each) => [each, ...each.querySelectorAll('*')]);
  for (const [at, part] of from!.entries()) wear(to![at]!, part, scale);
  for (const part of to!) for (const name of ['class', 'role', 'tabindex', 'aria-label']) part.removeAttribute(name);
  for (const [at, part] of from!.entries()) if (getComputedStyle(part).display === 'none') to![at]!.remove();
  return copy;
}

function wear(bare: Element, dressed: Element, scale: number): void {
  const style = getComputedStyle(dressed);
  for (const name of looks) bare.setAttribute(name, style.getPropertyValue(name));
  // Lines that keep their width at any size would be thin on a larger picture.
  if (style.getPropertyValue('vector-effect') !== 'non-scaling-stroke') return;
  bare.setAttribute('stroke-width', String(Number.parseFloat(style.strokeWidth) * scale));
}

/** The color behind it. */
function groundOf(figure: Element | null): string {
  if (figure === null) return '#fff';
  const color = getComputedStyle(figure).backgroundColor;
  return color === 'rgba(0, 0, 0, 0)' ? groundOf(figure.parentElement) : color;
}

interface Line {
  text: string;
  /** Of its first word. */
  readonly box: DOMRect;
  /** Where its last word ends. */
  right: number;
  readonly parent: Element;
}

/** The text outside of its SVGs, line by line as it is set now. */
function linesOf(figure: Element, isSeen: (each: Element) => boolean): readonly Line[] {
  const lines: Line[] = [];
  const texts = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const parent = node.parentElement!;
    if (parent.closest('svg') !== null || !isSeen(parent)) continue;
    for (const { index, 0: word } of node.textContent!.matchAll(/\S+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const box = range.getBoundingClientRect();
      const last = lines.at(-1);
      if (last?.parent !== parent || last.box.top !== box.top)
        lines.push({ text: word, box, right: box.right, parent });
      else {
        last.text += (box.left > last.right + 1 ? ' ' : '') + word;
        last.right = box.right;
      }
    }
  }
  return lines;
}
