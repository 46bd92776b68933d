import { seed } from './seed.ts';

/**
 * Whether this is `npm run test:deep` (DEEP=1): every fault at every place, and thousands of random
 * cases. Otherwise each place is struck once, and random cases are few.
 */
export const deep = process.env.DEEP === '1';

/** The number of random cases. FC_RUNS overrides both: mutation tests ask for fewer. */
export function cases(quick: number, many: number): number {
  return Number(process.env.FC_RUNS ?? (deep ? many : quick));
}

/**
 * Parameters of fast-check for cases that cost calls of DynamoDB. Shrinking takes minutes there: a
 * run ends with its first failure, which names the seed. FC_SEED repeats it, and shrinks.
 */
export function trials(quick: number, many: number) {
  return { seed, numRuns: cases(quick, many), endOnFailure: process.env.FC_SEED === undefined };
}

/** One of the values, another one with every seed and every `at`. All of them in a deep run. */
export function oneOrAll<Value>(values: readonly Value[], at = 0): readonly Value[] {
  return deep ? values : values.slice((seed + at) % values.length).slice(0, 1);
}

/**
 * Every `step`th of the values, beginning elsewhere with every seed and every `at`. All of them in
 * a deep run.
 */
export function share<Value>(values: readonly Value[], step: number, at = 0): readonly Value[] {
  return deep ? values : values.filter((_, index) => (index + seed + at) % step === 0);
}

/**
 * Each place with a fault that can strike there. Faults go round from place to place, and begin
 * elsewhere with every seed, so that every pair has its turn. In a deep run: all pairs. Give each
 * group of places its own `at`, so that groups do not begin with the same fault.
 */
export function rotate<Place, Fault>(
  places: readonly Place[],
  faultsAt: (place: Place) => readonly Fault[],
  at = 0,
): { place: Place; fault: Fault }[] {
  return places.flatMap((place, index) => oneOrAll(faultsAt(place), at + index).map((fault) => ({ place, fault })));
}
