import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const maxColors = 256;

/** The same picture with its most frequent colors only: of 24 bits a pixel, 8 stay. */
export function smallPng(png: Buffer): Buffer {
  const { width, height, pixels } = read(png);
  const colors = Array.from({ length: width * height }, (_, at) => pixels.readUIntBE(at * 3, 3));
  const counts = new Map<number, number>();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!).slice(0, maxColors);
  const places = new Map(palette.map((color, at) => [color, at]));
  const placeOf = (color: number) => {
    const known = places.get(color);
    if (known !== undefined) return known;
    const nearest = palette.reduce((best, each) => (distance(each, color) < distance(best, color) ? each : best));
    places.set(color, places.get(nearest)!);
    return places.get(nearest)!;
  };
  const rows = Array.from({ length: height }, (_, y) =>
    Buffer.from([0, ...colors.slice(y * width, (y + 1) * width).map(placeOf)]),
  );
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const paletteBytes = Buffer.from(palette.flatMap(parts));
  const data = deflateSync(Buffer.concat(rows), { level: 9, memLevel: 9 });
  const chunks = { IHDR: header, PLTE: paletteBytes, IDAT: data, IEND: Buffer.of() };
  return Buffer.concat([signature, ...Object.entries(chunks).map(([type, content]) => chunk(type, content))]);
}

const parts = (color: number) => [color >> 16, (color >> 8) & 255, color & 255];

function distance(one: number, other: number): number {
  const [a, b] = [parts(one), parts(other)];
  return a.reduce((sum, part, at) => sum + (part - b[at]!) ** 2, 0);
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), content]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

/** The pixels of a picture with three bytes each, as Chromium writes it. */
function read(png: Buffer) {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  if (png[24] !== 8 || png[25] !== 2) throw new Error('The picture has not three bytes a pixel.');
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const raw = inflateSync(Buffer.concat(data));
  const stride = width * 3;
  const pixels = Buffer.alloc(stride * height);
  const byte = (x: number, y: number) => (x < 0 || y < 0 ? 0 : pixels[y * stride + x]!);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)]!;
    for (let x = 0; x < stride; x++) {
      const [left, up, corner] = [byte(x - 3, y), byte(x, y - 1), x < 3 ? 0 : byte(x - 3, y - 1)];
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!;
      pixels[y * stride + x] = raw[y * (stride + 1) + 1 + x]! + predicted;
    }
  }
  return { width, height, pixels };
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
