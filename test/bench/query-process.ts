/**
 * A process for list queries alone: it answers each message `{ list, query }` with a QueryRun. Its
 * argument is `{ tables, userId }` as JSON; endpoint, region and credentials come from the
 * environment.
 */

import { readFileSync } from 'node:fs';
import { documentClient } from '../../functions/data/dynamodb/client.ts';
import { systemClock } from '../../functions/runtime/clock.ts';
import { answerList, type ListAnswer, type ListName, type ListQuery } from './answer-list.ts';

export interface QueryRun {
  readonly answer: ListAnswer;
  /** CPU time of the process, the SDK included. */
  readonly cpuMilliseconds: number;
  /** The most memory that the process has had so far. */
  readonly peakBytes: number;
}

const { tables, userId } = JSON.parse(process.argv[2] ?? '');
const db = { client: documentClient(60_000), tables, clock: systemClock };

process.on('message', async ({ list, query }: { list: ListName; query: ListQuery }) => {
  const cpu = process.cpuUsage();
  const answer = await answerList(db, userId, list, query);
  const { user, system } = process.cpuUsage(cpu);
  const cpuMilliseconds = (user + system) / 1_000;
  process.send?.({ answer, cpuMilliseconds, peakBytes: peakBytes() } satisfies QueryRun);
});
process.send?.('ready');

/** From Linux: Node's own figure starts with the size of the parent process. */
function peakBytes(): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}
