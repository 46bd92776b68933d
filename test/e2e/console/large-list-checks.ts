import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { batchList } from '../../../functions/data/columns/lists.ts';
import { planRowReads } from '../../../functions/data/lists/plan.ts';
import type { BatchRow } from '../../../functions/schemas/batch.ts';
import { type TableNames, tables } from '../../../functions/tables.ts';
import { owner } from '../../../infra/local/iam/principals.ts';
import type { LocalStack } from '../../../infra/local/local-stack.ts';
import { benchBatches } from '../../bench/bench-rows.ts';
import { loadList } from '../../support/load-list.ts';
import type { Check } from '../page/run-checks.ts';
import type { Visit } from './world.ts';

const size = 100_000;
const limit = 100;

interface Page {
  /** What its reader does. */
  readonly open: () => Promise<unknown>;
  readonly query: { readonly status?: string; readonly offset?: number };
  /** The row of docs/reference/performance.md that bounds its read units. */
  readonly figure: string;
  /** Counts by status are asked for where the filters change. */
  readonly isCounted?: true;
}

interface SentCall {
  readonly path: string;
  readonly requestId: string;
}

interface LogLine {
  readonly request_id: string;
  readonly route?: string;
  readonly ReadUnits?: number;
  readonly messages?: number;
  readonly failed?: number;
}

/**
 * The list of a user of 100,000 batches, as the benchmark makes them, with all their columns and
 * summaries. Of the rows only those are stored that these pages are read from. `signIn` opens a
 * view as that user, who had no batch before, on a stack whose functions log to `logFile`.
 */
export function largeListChecks(
  visit: Visit,
  stack: LocalStack,
  { userId, signIn, logFile }: { readonly userId: string; readonly signIn: () => Promise<void>; logFile: string },
): Record<string, Check> {
  const { page, show } = visit;
  const pages: Record<string, Page> = {
    first: {
      open: () => show(`#/batches?limit=${limit}`),
      query: {},
      figure: 'unfiltered, first page',
      isCounted: true,
    },
    next: { open: () => page.choose('Next page'), query: { offset: limit }, figure: 'unfiltered, at 50 %' },
    far: {
      open: () => show(`#/batches?limit=${limit}&offset=49700`),
      ...{ query: { offset: 49_700 }, figure: 'unfiltered, at 50 %' },
    },
    last: { open: () => page.choose('Last page'), query: { offset: size - limit }, figure: 'unfiltered, at 90 %' },
    // The counts are those without the filter on the status.
    filtered: { open: filter, query: { status: 'ERROR' }, figure: 'status, 2 % match' },
    'next filtered': {
      open: () => page.choose('Next page'),
      ...{ query: { status: 'ERROR', offset: limit }, figure: 'status, 2 % match, at 50 %' },
    },
  };

  async function filter() {
    await visit.chooseFacet('Failed');
  }

  return {
    async 'among 100,000 batches each page is one call of the list, at its read units in the API'() {
      // The page of the check before would look at a list that is written in part.
      await page.open('about:blank', 'true');
      const newest = benchBatches(userId, size).toReversed();
      const blocks = await load(stack, userId, newest, Object.values(pages));
      await until(() => handledBlocks() === blocks);
      await signIn();
      await page.evaluate(observeCalls);
      const bounds = publishedUnits();
      const shown: string[] = [];
      for (const [name, { open, query, figure, isCounted }] of Object.entries(pages)) {
        const { offset = 0 } = query;
        const matching = matchingRows(newest, query);
        const expected = matching.slice(offset, offset + limit).map(({ id }) => id);
        const place = [offset + 1, offset + expected.length, matching.length].map((each) => each.toLocaleString('en'));
        await page.evaluate('calls.length = 0');
        await open();
        await visit.see(`${place[0]} to ${place[1]} of ${place[2]}`);
        await visit.rest();
        await page.waitFor('calls.length > 0 && calls.every((each) => each.requestId)');
        assert.deepEqual(await visit.listed(), expected, name);

        // The projects are read once for each session.
        const sent = (await page.evaluate<SentCall[]>('calls')).filter(({ path }) => path !== '/api/v1/projects');
        const [call, ...besides] = sent.filter(({ path }) => !path.includes('count_by='));
        const parameters = new URLSearchParams(call!.path.split('?')[1]);
        assert.deepEqual(besides, [], `${name}: one call of the list`);
        assert.equal(sent.length, isCounted ? 2 : 1, `${name}: ${JSON.stringify(sent)}`);
        assert.deepEqual(
          [parameters.get('limit'), Number(parameters.get('offset')), parameters.get('status') ?? undefined],
          [String(limit), offset, query.status],
        );
        const units = await unitsOf(call!.requestId);
        assert.equal(await unitsOf(await callAlone(call!.path)), units, `${name}: read units of the same call`);
        assert(units > 0 && units <= bounds[figure]!, `${name}: ${units} read units, at most ${bounds[figure]}`);
        shown.push(`${name} ${units}`);
      }
      return shown.join(', ');
    },
  };

  /** Sends a call as a client does, and answers with its id. */
  async function callAlone(path: string): Promise<string> {
    const { headers } = await fetch(stack.baseUrl + path, {
      headers: { Authorization: await page.evaluate<string>('authorization') },
    });
    return headers.get('x-request-id')!;
  }

  /** The read units that the list's function has counted for a request. */
  async function unitsOf(requestId: string): Promise<number> {
    // A function's output arrives soon after its answer.
    const { route, ReadUnits } = await until(() => logged().find(({ request_id }) => request_id === requestId));
    assert.equal(route, '/api/v1/batches');
    return Number(ReadUnits);
  }

  /** New blocks that the consumer of the table's stream has looked at: it reads the table, too. */
  function handledBlocks(): number {
    return logged().reduce((sum, { messages = 0, failed = 0 }) => sum + messages - failed, 0);
  }

  function logged(): LogLine[] {
    const lines = readFileSync(logFile, 'utf8').matchAll(/^\S+ (\{.*\})$/gm);
    return Array.from(lines, ([, line]) => JSON.parse(line!));
  }
}

/** Waits for a value. Throws after two minutes. */
async function until<Value>(find: () => Value | false | undefined): Promise<Value> {
  for (const end = Date.now() + 120_000; Date.now() < end; await sleep(100)) {
    const value = find();
    if (value !== undefined && value !== false) return value;
  }
  throw new Error(`This did not come to hold: ${find}`);
}

/** Runs in the page: notes its calls, and keeps it from looking at the list again by itself. */
const observeCalls = `(() => {
  const [send, wait] = [fetch, setTimeout];
  globalThis.calls = [];
  globalThis.fetch = async (address, init) => {
    const call = { path: address.slice(location.origin.length) };
    calls.push(call);
    globalThis.authorization = init.headers.Authorization;
    const response = await send(address, init);
    call.requestId = response.headers.get('x-request-id');
    return response;
  };
  globalThis.setTimeout = (work, milliseconds) => (milliseconds >= 5_000 ? 0 : wait(work, milliseconds));
})()`;

function matchingRows(newest: readonly BatchRow[], { status }: Page['query']): readonly BatchRow[] {
  return newest.filter((row) => status === undefined || row.status === status);
}

/** Answers with the number of new blocks that the table's stream hands to the sealing function. */
async function load(stack: LocalStack, userId: string, newest: readonly BatchRow[], pages: readonly Page[]) {
  const environments = stack.deployment.functions.map(({ environment }) => environment);
  const names = Object.entries(tables).map(([name, { environmentVariable }]) => [
    name,
    environments.map((each) => each[environmentVariable]).find(Boolean),
  ]);
  const only = new Set(
    pages.flatMap(({ query }) => {
      const { offset = 0 } = query;
      const rows = matchingRows(newest, query).slice(offset, offset + limit);
      const sequence = rows.map(({ seq }) => seq);
      const reads = planRowReads(sequence, batchList.columns.id.rowsPerBlock);
      if (reads.kind === 'ids') return sequence;
      return reads.ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, at) => from + at));
    }),
  );
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({
      endpoint: stack.dynamodbEndpoint,
      region: process.env.AWS_REGION ?? 'us-east-1',
      credentials: owner,
    }),
  );
  const rows = newest.toReversed();
  const physical = Object.fromEntries(names) as TableNames;
  await loadList(client, physical, { list: batchList, userId, rows, only, sealed: () => true });
  const { Count } = await client.send(
    new QueryCommand({
      TableName: physical.Columns,
      KeyConditionExpression: 'user_id = :user AND begins_with(#key, :prefix)',
      ExpressionAttributeNames: { '#key': 'key' },
      ExpressionAttributeValues: { ':user': userId, ':prefix': 'b#f#0' },
      Select: 'COUNT',
    }),
  );
  return Count;
}

/** Read units of a page of 100 among 100,000 batches, by the names in performance.md. */
function publishedUnits(): Readonly<Record<string, number>> {
  const file = new URL('../../../docs/reference/performance.json', import.meta.url);
  const figures: { name: string; readUnits: number }[] = JSON.parse(readFileSync(file, 'utf8')).lists[size];
  return Object.fromEntries(figures.map(({ name, readUnits }) => [name, readUnits]));
}
