/**
 * A block of a numeric column: whole numbers and nulls in as few bits as their spread allows. Every
 * value is kept as its distance from the block's smallest value, in a unit that all distances are
 * multiples of. So times of one day in whole milliseconds take 27 bits each, and flags take 2.
 *
 * Layout, big-endian:
 * - 2 bytes: number of entries
 * - 4 bits: format (1; 2 of a block that is sealed, see summary.ts); 4 bits: exponent of the unit,
 *   which is 1000^exponent
 * - 1 byte: width of an entry in bits
 * - 7 bytes: smallest value
 * - the entries without gaps: 0 is null, n is the smallest value + (n - 1) units
 *
 * Part of the stored format: blocks that are written today must be read by every later release.
 */

const headerBytes = 11;
const formats = { open: 1, sealed: 2 } as const;
const units = [1_000_000, 1_000, 1] as const;

/** Packs up to 65,535 values between 0 and 2^53 - 1, as an open block. */
export function packIntegers(values: readonly (number | null)[]): Uint8Array {
  const present = values.filter((value) => value !== null);
  const smallest = present.reduce((least, value) => Math.min(least, value), present[0] ?? 0);
  const largest = present.reduce((most, value) => Math.max(most, value), smallest);
  const unit = units.find((candidate) => present.every((value) => (value - smallest) % candidate === 0)) ?? 1;
  const width = bitLength((largest - smallest) / unit + 1);
  const bytes = new Uint8Array(packedLength(values.length, width));
  writeBits(bytes, { start: 0, width: 16 }, values.length);
  writeBits(bytes, { start: 16, width: 4 }, formats.open);
  writeBits(bytes, { start: 20, width: 4 }, unit === 1 ? 0 : unit === 1_000 ? 1 : 2);
  bytes[3] = width;
  writeBits(bytes, { start: 32, width: 56 }, smallest);
  values.forEach((value, index) => {
    if (value === null) return;
    writeBits(bytes, { start: headerBytes * 8 + index * width, width }, (value - smallest) / unit + 1);
  });
  return bytes;
}

/**
 * Writes the block's values into `target` from index `at` on, as far as `target` reaches, with NaN
 * for null. Returns how many values the block has. Throws RangeError for a block that ends too
 * early or is of another format: it would give other values. Then `npm run repair -- --fix` writes
 * the block anew.
 */
export function unpackIntegers(bytes: Uint8Array, target: Float64Array, at = 0): number {
  const count = packedCount(bytes);
  const view = paddedView(bytes);
  const exponent = readBits(view, 20, 4);
  const width = readBits(view, 24, 8);
  const smallest = readBits(view, 32, 56);
  if (bytes.length < packedLength(count, width)) throw new RangeError('A packed block ends too early.');
  const format = readBits(view, 16, 4);
  if ((format !== formats.open && format !== formats.sealed) || exponent >= units.length)
    throw new RangeError('A packed block is of another format.');
  const unit = 1000 ** exponent;
  const end = Math.min(count, target.length - at);
  const value = (entry: number) => (entry === 0 ? Number.NaN : smallest + (entry - 1) * unit);
  // Two loops, because a list unpacks hundreds of thousands of entries, and most are narrow.
  let start = headerBytes * 8;
  if (width <= windowBits) {
    for (let index = at; index < at + end; index++, start += width)
      target[index] = value(readWindow(view, start, width));
  } else {
    for (let index = at; index < at + end; index++, start += width) target[index] = value(readBits(view, start, width));
  }
  return count;
}

/** Whether a summary may count the block. A change of its values deletes the summary. */
export function isSealed(block: Uint8Array): boolean {
  return (block[2] as number) >> 4 === formats.sealed;
}

/** The same values, sealed. packIntegers seals no block, so a block that is packed anew is open. */
export function seal(block: Uint8Array): Uint8Array {
  return block.with(2, (formats.sealed << 4) | ((block[2] as number) & 15));
}

/** How many values the block holds. */
export function packedCount(bytes: Uint8Array): number {
  if (bytes.length < headerBytes) throw new RangeError('A packed block ends too early.');
  return (bytes[0] as number) * 256 + (bytes[1] as number);
}

function packedLength(count: number, width: number): number {
  return headerBytes + Math.ceil((count * width) / 8);
}

/** Bits of the number: 54 at most, for 2^53. */
function bitLength(value: number): number {
  let length = 1;
  while (value >= 2 ** length) length++;
  return length;
}

/** Writes into bits that are all zero, from the last byte to the first. */
function writeBits(bytes: Uint8Array, { start, width }: { start: number; width: number }, value: number) {
  let rest = value;
  for (let end = start + width; end > start; ) {
    const unused = -end & 7;
    const taken = Math.min(8 - unused, end - start);
    const at = (end - 1) >> 3;
    bytes[at] = (bytes[at] as number) | ((rest % 2 ** taken) << unused);
    rest = Math.floor(rest / 2 ** taken);
    end -= taken;
  }
}

/** The bytes with as many zeros behind them as a window may reach beyond the end. */
function paddedView(bytes: Uint8Array): DataView {
  const padded = new Uint8Array(bytes.length + 4);
  padded.set(bytes);
  return new DataView(padded.buffer);
}

/**
 * Bitwise operators take 32 bits. Wherever a number begins within a byte, 25 bits of it are among
 * them.
 */
const windowBits = 25;

function readWindow(view: DataView, start: number, width: number): number {
  return (view.getInt32(start >> 3) << (start & 7)) >>> (32 - width);
}

/** Any number of bits, put together as numbers. */
function readBits(view: DataView, start: number, width: number): number {
  if (width <= windowBits) return readWindow(view, start, width);
  const rest = width - windowBits;
  return readBits(view, start, rest) * 2 ** windowBits + readWindow(view, start + rest, windowBits);
}
