import { listBatches } from '../../functions/data/batches.ts';
import { pageReply, successReply } from '../../functions/http/reply.ts';
import type { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import type { Bench } from './measure-lists.ts';

export interface PageResult {
  readonly name: string;
  readonly size: number;
  /**
   * CPU time of this process for one page: plan, columns, selection, rows and the reply's text,
   * without the SDK and the network.
   */
  readonly cpuMilliseconds: number;
  readonly bytes: number;
}

const measured = new Set(['unfiltered, at 50 %', 'three filters, 3 % match', 'order_by jobs_count']);
const warmUps = 50;

/**
 * Measures the CPU time of pages of 100 batches. The database's answers were recorded before, so
 * none is asked.
 */
export async function* measurePages(bench: Bench, milliseconds: number): AsyncGenerator<PageResult> {
  for (const listCase of bench.cases.filter(({ name }) => measured.has(name))) {
    const page = await recordedPage(bench, listCase.asked as BatchListQuery);
    for (let count = 0; count < warmUps; count++) await page();
    const cpu = process.cpuUsage();
    let count = 0;
    for (const end = performance.now() + milliseconds; performance.now() < end; count++) await page();
    const { user, system } = process.cpuUsage(cpu);
    yield {
      name: listCase.name,
      size: bench.size,
      cpuMilliseconds: (user + system) / 1000 / count,
      bytes: Buffer.byteLength(await page()),
    };
  }
}

/**
 * Does all that a query needs, from the repository to the reply's body. Every call is answered from
 * memory.
 */
async function recordedPage({ client, tables, userId }: Bench, query: BatchListQuery): Promise<() => Promise<string>> {
  const answers = new Map<string, Promise<Record<string, unknown>>>();
  const keyOf = ({ name, input }: Call) => name + JSON.stringify(input);
  const replayed = interceptedClient(client, (call) => {
    const answer = answers.get(keyOf(call)) ?? call.send();
    answers.set(keyOf(call), answer);
    return answer;
  });
  const list = listBatches(replayed, tables);
  const page = async () => successReply(200, pageReply(query, await list(userId, query))).body;
  await page();
  return page;
}
