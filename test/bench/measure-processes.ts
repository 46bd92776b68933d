import { fork } from 'node:child_process';
import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { TableNames } from '../../functions/tables.ts';
import type { PreparedCase } from './list-cases.ts';
import type { QueryRun } from './query-process.ts';
import { median } from './units.ts';

interface ProcessCost {
  /** CPU time of one answer, the SDK included, in a process that has answered this query before. */
  readonly cpuMilliseconds: number;
  /** Peak memory after the first answer. Most of it is Node and the SDK. */
  readonly peakMegabytes: number;
}

const warmUps = 4;

/**
 * Answers one query several times in a process that does nothing else, and waits for `between`
 * after each answer. Throws when an answer is wrong.
 */
export async function measureProcess(
  owner: { readonly tables: TableNames; readonly userId: string },
  { name, list, asked: query, expected }: PreparedCase,
  runs: number,
  between = async () => {},
): Promise<ProcessCost> {
  const child = fork(`${import.meta.dirname}/query-process.ts`, [JSON.stringify(owner)]);
  const died = once(child, 'exit').then(() => Promise.reject(new Error(`${name}: the process has ended.`)));
  // It may end while no call waits for it.
  died.catch(() => {});
  const message = () => Promise.race([once(child, 'message'), died]);
  const answers: QueryRun[] = [];
  try {
    await message();
    while (answers.length < warmUps + runs) {
      child.send({ list, query });
      const [run] = (await message()) as [QueryRun];
      if (!isDeepStrictEqual(run.answer, expected)) throw new Error(`${name}: the answer is wrong.`);
      answers.push(run);
      await between();
    }
  } finally {
    child.kill();
  }
  return {
    cpuMilliseconds: median(answers.slice(warmUps).map((run) => run.cpuMilliseconds)),
    peakMegabytes: (answers[0]?.peakBytes ?? Number.NaN) / 2 ** 20,
  };
}
