/**
 * Seed of everything random in a test: FC_SEED repeats a run, otherwise every run has another one.
 * Failures name it.
 */
export const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
