/**
 * How many jobs a second one user, one device and a deployment can run at most: a model, from the
 * units that a job's life writes to the keys that many jobs share, and from AWS's quotas.
 */

import { itemsOfPlace, partitionsOfMonth } from '../../functions/data/limits/usage-sums.ts';
import { type CallFigure, type Figures, markdownTable } from './performance.ts';
import { functionSeconds, gigabytesOfMachines } from './usage-costs.ts';

/** What an account and region takes unless AWS is asked for more. */
export const maxCallsPerSecond = 10_000;
export const maxEnvironments = 1_000;
/** What DynamoDB takes for one partition key. */
export const maxUnitsPerSecond = { write: 1_000, read: 3_000 };

/** A transaction keeps others from its items for so long: taken, not measured on AWS. */
const transactionSeconds = 0.02;

/** A batch of `jobs` jobs that one worker runs, one after the other. */
interface Life {
  readonly name: string;
  readonly jobs: number;
}
const lives: readonly Life[] = [
  { name: 'batches of 1 job', jobs: 1 },
  { name: 'batches of 4 jobs', jobs: 4 },
  { name: 'batches of 100 jobs', jobs: 100 },
];

/** What the life of a batch writes to a key that others write, too. */
interface SharedKey {
  readonly of: 'one user' | 'one device' | 'all';
  readonly name: string;
  /** How many keys share the writes evenly. */
  readonly keys: number;
  readonly units: (life: Life) => number;
}
/** With every fourth job, and at the batch's end. */
const sumsOfUsage = ({ jobs }: Life) => Math.ceil(jobs / 4);
const unitsOfUsage = (life: Life) => 2 * sumsOfUsage(life);
const sharedKeys: readonly SharedKey[] = [
  { of: 'one user', name: 'the user’s usage of a month', keys: 1, units: unitsOfUsage },
  // Creation 2, claim 2 with the clock, the last end 1. A job: its start or end 2; every fourth one
  // notes the job times of its device.
  { of: 'one device', name: 'the device’s queue', keys: 1, units: ({ jobs }) => 5 + 2 * jobs + Math.ceil(jobs / 4) },
  { of: 'all', name: 'the usage of a month, by eight keys', keys: partitionsOfMonth, units: unitsOfUsage },
];

/** How often each call comes in the life of a batch of jobs of less than 20 s. */
const callsOf = ({ jobs }: Life): readonly (readonly [count: number, of: 'endpoints' | 'devices', name: string])[] => [
  [1, 'endpoints', 'createBatch, 4 jobs'],
  [1, 'devices', 'claim, 1 batch waits'],
  [jobs - 1, 'devices', 'report, and the next job'],
  [1, 'devices', 'report of the last job'],
];

/** Jobs a second at which each bound is reached; the lowest of them is where it ends. */
export function ceilingTable(figures: Figures): string {
  const figureOf = (of: 'endpoints' | 'devices', name: string) => {
    const figure = figures[of]?.find((each: CallFigure) => each.name === name);
    if (figure === undefined) throw new Error(`docs/reference/performance.json has no figure "${name}".`);
    return figure;
  };
  const perJob = (life: Life, quantity: (figure: CallFigure, gigabytes: number) => number) =>
    callsOf(life).reduce((sum, [count, of, name]) => {
      return sum + count * quantity(figureOf(of, name), of === 'devices' ? gigabytesOfMachines : 1);
    }, 0) / life.jobs;
  const bounds: readonly (readonly [of: string, what: string, jobsPerSecond: (life: Life) => number])[] = [
    // They write the heads of the user's lists; changes of rows do not. One of 100 jobs takes two.
    ['one user', 'one creation at a time', ({ jobs }) => jobs / (Math.ceil(jobs / 80) * transactionSeconds)],
    [
      'one user',
      'four sums of usage at a time',
      (life) => (itemsOfPlace * life.jobs) / (sumsOfUsage(life) * transactionSeconds),
    ],
    ...sharedKeys.map(
      ({ of, name, keys, units }) =>
        [of, name, (life: Life) => (keys * maxUnitsPerSecond.write * life.jobs) / units(life)] as const,
    ),
    ['all', 'execution environments', (life) => maxEnvironments / perJob(life, functionSeconds)],
    ['all', 'calls of the gateway', (life) => maxCallsPerSecond / perJob(life, () => 1)],
    // Each creation reads the device, and the item of the limits that hold for all.
    ['all', 'reads of the device and of the default limits', ({ jobs }) => maxUnitsPerSecond.read * jobs],
  ];
  const rows = bounds.map(([of, what, jobsPerSecond]) => [of, what, ...lives.map(jobsPerSecond)]);
  return markdownTable(['of', 'ends at', ...lives.map(({ name }) => name)], rows);
}
