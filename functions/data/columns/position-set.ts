/**
 * A block of a position set: which rows of one segment of the sequence are in the set (have the
 * tag, are of the batch). It is a bitmap with one bit a row, without its leading and trailing zero
 * bytes.
 *
 * Layout: 2 bytes for the index of the first byte that is kept, then the bytes; a byte's lowest bit
 * is its first row.
 *
 * Part of the stored format: blocks that are written today must be read by every later release.
 */

const headerBytes = 2;

/** `block` with the row at `index` in it or not; undefined when no row is left. */
export function withPosition(block: Uint8Array | undefined, index: number, present: boolean): Uint8Array | undefined {
  const at = index >> 3;
  const first = block === undefined ? at : firstByte(block);
  const start = Math.min(first, at);
  const bits = new Uint8Array(Math.max(first + (block?.length ?? headerBytes) - headerBytes, at + 1) - start);
  if (block !== undefined) bits.set(block.subarray(headerBytes), first - start);
  if (present) bits[at - start]! |= 1 << (index & 7);
  else bits[at - start]! &= ~(1 << (index & 7));
  const from = bits.findIndex((byte) => byte !== 0);
  return from < 0
    ? undefined
    : withHeader(start + from, bits.subarray(from, bits.findLastIndex((byte) => byte !== 0) + 1));
}

/** The rows of the block, ascending. */
export function positionsOf(block: Uint8Array): number[] {
  const positions: number[] = [];
  const first = firstByte(block) * 8;
  for (let at = headerBytes; at < block.length; at++) {
    const bits = block[at] ?? 0;
    for (let bit = 0; bit < 8; bit++) {
      if (bits & (1 << bit)) positions.push(first + (at - headerBytes) * 8 + bit);
    }
  }
  return positions;
}

/** Packs ascending positions below 524,288; undefined when there are none. */
export function packPositions(positions: readonly number[]): Uint8Array | undefined {
  const first = positions[0];
  const last = positions.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const bits = new Uint8Array((last >> 3) - (first >> 3) + 1);
  for (const position of positions) bits[(position >> 3) - (first >> 3)]! |= 1 << (position & 7);
  return withHeader(first >> 3, bits);
}

/** The index of the first byte that is kept. */
function firstByte(block: Uint8Array): number {
  return (block[0] ?? 0) * 256 + (block[1] ?? 0);
}

function withHeader(first: number, bits: Uint8Array): Uint8Array {
  const block = new Uint8Array(headerBytes + bits.length);
  block[0] = first >> 8;
  block[1] = first & 255;
  block.set(bits, headerBytes);
  return block;
}
