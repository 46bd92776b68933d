import { createHash } from 'node:crypto';

/** Choices that are always the same for the same seed. */
export interface Random {
  /** From `least` to `most`, both included. */
  whole(least: number, most: number): number;
  /** From `least` to below `most`, two decimals. */
  decimal(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
  /** `count` different ones. */
  sample<Value>(values: readonly Value[], count: number): Value[];
  /** A key, each as likely as its weight says. */
  weighted<Key extends string>(weights: Readonly<Partial<Record<Key, number>>>): Key;
  uuid(): string;
}

/**
 * Numbers from 0 to below 1, the same for the same seed. Mulberry32: 32 bits of state suffice for
 * made-up data.
 */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function seededRandom(seed: string): Random {
  const next = randomNumbers(createHash('sha256').update(seed).digest().readUInt32LE());
  const whole = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  const pick = <Value>(values: readonly Value[]) => values[whole(0, values.length - 1)]!;
  return {
    whole,
    pick,
    decimal: (least, most) => Math.floor((least + next() * (most - least)) * 100) / 100,
    chance: (probability) => next() < probability,
    sample(values, count) {
      const rest = [...values];
      return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(whole(0, rest.length - 1), 1)[0]!);
    },
    weighted(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [key, weight] of entries) {
        left -= weight;
        if (left < 0) return key;
      }
      return entries[0]![0];
    },
    uuid() {
      const hex = Array.from({ length: 8 }, () => whole(0, 65_535).toString(16).padStart(4, '0')).join('');
      const digits = `${hex.slice(0, 12)}4${hex.slice(13, 16)}${'89ab'[whole(0, 3)]}${hex.slice(17)}`;
      return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    },
  };
}
