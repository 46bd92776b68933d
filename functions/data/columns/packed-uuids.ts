/**
 * A block of a column of UUIDs: 16 bytes each, in the order of the rows.
 *
 * Part of the stored format: blocks that are written today must be read by every later release.
 */

const uuidBytes = 16;

/** Packs canonical UUIDs. */
export function packUuids(uuids: readonly string[]): Uint8Array {
  return new Uint8Array(Buffer.from(uuids.join('').replaceAll('-', ''), 'hex'));
}

/** The canonical UUID at `index` of the concatenated blocks. */
export function uuidAt(bytes: Buffer, index: number): string {
  const hex = bytes.toString('hex', index * uuidBytes, (index + 1) * uuidBytes);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** How many UUIDs the block holds. */
export function uuidCount(bytes: Uint8Array): number {
  return bytes.length / uuidBytes;
}
