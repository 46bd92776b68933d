/**
 * A block of a position set: which rows of one stretch of the sequence are in the set (have the
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
  const positions = new Set(block === undefined ? [] : positionsOf(block));
  if (present) positions.add(index);
  else positions.delete(index);
  return packPositions([...positions].sort((a, b) => a - b));
}

/** The rows of the block, ascending. */
export function positionsOf(block: Uint8Array): number[] {
  const positions: number[] = [];
  const first = ((block[0] ?? 0) * 256 + (block[1] ?? 0)) * 8;
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
  const firstByte = first >> 3;
  const block = new Uint8Array(headerBytes + (last >> 3) - firstByte + 1);
  block[0] = firstByte >> 8;
  block[1] = firstByte & 255;
  for (const position of positions) block[headerBytes + (position >> 3) - firstByte]! |= 1 << (position & 7);
  return block;
}
