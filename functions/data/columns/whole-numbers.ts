/**
 * Whole numbers as bytes: 7 bits a byte, low ones first, with the highest bit set if a number goes
 * on.
 *
 * Part of the stored format: what is written today must be read by every later release.
 */

/** Appends a number between 0 and 2^53 - 1. */
export function writeNumber(bytes: number[], value: number): void {
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
}

/** Returns the numbers one by one, from byte `at` on. Throws RangeError where the bytes end. */
export function numberReader(bytes: Uint8Array, at = 0): () => number {
  let next = at;
  return () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[next++];
      if (byte === undefined) throw new RangeError('The bytes of numbers end too early.');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
}
