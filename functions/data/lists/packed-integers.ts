/**
 * A block of a numeric column: whole numbers and nulls in as few bytes as their spread allows. Every value is kept as a
 * multiple of a common unit above the block's smallest, so times of one day with whole milliseconds take 4 bytes and small
 * counts take 1.
 *
 * Layout: count (2 bytes), unit exponent (1: value / 1000^exponent), width of an entry in bytes (1), smallest value
 * (7), then the entries, big-endian; an entry of all ones is null.
 */

const headerBytes = 11;
const units = [1_000_000, 1_000, 1] as const;

/** Packs up to 65,535 values between 0 and 2^53 - 1. */
export function packIntegers(values: readonly (number | null)[]): Uint8Array {
  const present = values.filter((value) => value !== null);
  const smallest = present.reduce((least, value) => Math.min(least, value), present[0] ?? 0);
  const largest = present.reduce((most, value) => Math.max(most, value), smallest);
  const unit = units.find((candidate) => present.every((value) => (value - smallest) % candidate === 0)) ?? 1;
  const width = entryWidth((largest - smallest) / unit);
  const bytes = new Uint8Array(headerBytes + values.length * width);
  writeInteger(bytes, 0, 2, values.length);
  bytes[2] = unit === 1 ? 0 : unit === 1_000 ? 1 : 2;
  bytes[3] = width;
  writeInteger(bytes, 4, 7, smallest);
  values.forEach((value, index) => {
    const at = headerBytes + index * width;
    if (value === null) bytes.fill(255, at, at + width);
    else writeInteger(bytes, at, width, (value - smallest) / unit);
  });
  return bytes;
}

/** Writes the block's values into `target` from index `at` on, NaN for null, as far as it reaches; returns their number. */
export function unpackIntegers(bytes: Uint8Array, target: Float64Array, at = 0): number {
  const count = packedCount(bytes);
  const unit = 1000 ** byte(bytes, 2);
  const width = byte(bytes, 3);
  const smallest = readInteger(bytes, 4, 7);
  const absent = 256 ** width - 1;
  const end = Math.min(count, target.length - at);
  for (let index = 0; index < end; index++) {
    const entry = readInteger(bytes, headerBytes + index * width, width);
    target[at + index] = entry === absent ? Number.NaN : smallest + entry * unit;
  }
  return count;
}

/** How many values the block holds. */
export function packedCount(bytes: Uint8Array): number {
  return readInteger(bytes, 0, 2);
}

/** Bytes that hold every offset up to `largest` and one more pattern for null; 7 at most, as 2^53 needs. */
function entryWidth(largest: number): number {
  let width = 1;
  while (largest >= 256 ** width - 1) width++;
  return width;
}

function writeInteger(bytes: Uint8Array, at: number, width: number, value: number) {
  let rest = value;
  for (let place = at + width - 1; place >= at; place--) {
    bytes[place] = rest % 256;
    rest = Math.floor(rest / 256);
  }
}

function readInteger(bytes: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let place = at; place < at + width; place++) value = value * 256 + byte(bytes, place);
  return value;
}

/** Reading past the end is a corrupt block: NaN there would pass for a null. */
function byte(bytes: Uint8Array, at: number): number {
  const value = bytes[at];
  if (value === undefined) throw new RangeError('A packed block ends too early.');
  return value;
}
