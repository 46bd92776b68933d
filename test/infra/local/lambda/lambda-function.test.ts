import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type LambdaFunction, lambdaFunction } from '../../../../infra/local/lambda/lambda-function.ts';
import type { FunctionDefinition } from '../../../../infra/local/template/deployment.ts';

const directory = mkdtempSync(join(tmpdir(), 'bundle-'));
const lines: string[] = [];
const created: LambdaFunction[] = [];

afterAll(async () => {
  await Promise.all(created.map((each) => each.stop()));
  rmSync(directory, { recursive: true });
});

/** A function with this source, whose export is `handler`. */
function bundle(source: string, overrides: Partial<FunctionDefinition> = {}): LambdaFunction {
  const file = `bundle-${created.length}`;
  writeFileSync(join(directory, `${file}.mjs`), source);
  const definition: FunctionDefinition = {
    name: 'name',
    arn: 'arn:aws:lambda:eu-west-3:1:function:name',
    directory,
    handler: `${file}.handler`,
    timeoutSeconds: 1,
    logGroup: 'Functions',
    memoryMegabytes: 128,
    environment: { GIVEN: 'by the template' },
    roleArn: '',
    statements: [],
    ...overrides,
  };
  const made = lambdaFunction(definition, { AWS_REGION: 'eu-west-3' }, (line) => lines.push(line));
  created.push(made);
  return made;
}

describe('lambdaFunction', () => {
  it('gives the handler the environment of the template and of Lambda, and nothing of this process', async () => {
    const environment = (await bundle('export const handler = () => process.env').invoke({})) as Record<string, string>;
    expect(environment).toMatchObject({
      GIVEN: 'by the template',
      AWS_REGION: 'eu-west-3',
      AWS_LAMBDA_FUNCTION_NAME: 'name',
    });
    expect(
      Object.keys(environment).filter(
        (name) => !/^(AWS_|LAMBDA_|GIVEN|LANG|PATH|TZ|_HANDLER|_X_AMZN_TRACE_ID|NODE_)/.test(name),
      ),
    ).toEqual([]);
  });

  it('gives the handler a context and takes its answer as JSON', async () => {
    const answer = await bundle(`export const handler = async (event, context) => ({
      event, at: new Date(0), nothing: undefined, name: context.functionName, id: context.awsRequestId,
      left: context.getRemainingTimeInMillis(), memory: context.memoryLimitInMB, arn: context.invokedFunctionArn })`).invoke(
      { a: 1 },
    );
    expect(answer).toEqual({
      event: { a: 1 },
      at: '1970-01-01T00:00:00.000Z',
      name: 'name',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      left: expect.any(Number),
      memory: '128',
      arn: 'arn:aws:lambda:eu-west-3:1:function:name',
    });
    const { left } = answer as { left: number };
    expect(left > 0 && left <= 1_000).toBe(true);
    expect(await bundle('export const handler = () => undefined').invoke({})).toBeNull();
  });

  it('keeps what the handler keeps between calls, and calls it for one event at a time', async () => {
    const busy = bundle(
      `let calls = 0, running = 0, most = 0;
      export const handler = async () => { calls++; most = Math.max(most, ++running); await new Promise(r => setTimeout(r, 50)); running--; return { calls, most } }`,
      { reservedConcurrency: 2 },
    );
    const answers = (await Promise.all(Array.from({ length: 6 }, () => busy.invoke({})))) as {
      calls: number;
      most: number;
    }[];
    expect(new Set(answers.map(({ most }) => most))).toEqual(new Set([1]));
    expect(answers.filter(({ calls }) => calls === 1)).toHaveLength(2);
  });

  it('ends environments beyond one that no call has needed for 5 s', async () => {
    const pair = bundle(
      `import { threadId } from 'node:worker_threads';
      export const handler = async () => { await new Promise(r => setTimeout(r, 100)); return threadId }`,
      { timeoutSeconds: 60 },
    );
    const threadsOfTwo = async () => (await Promise.all([pair.invoke({}), pair.invoke({})])) as number[];
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const first = await threadsOfTwo();
      await vi.advanceTimersByTimeAsync(4_000);
      const used = await threadsOfTwo();
      expect(new Set(used)).toEqual(new Set(first));
      await vi.advanceTimersByTimeAsync(4_999);
      expect(new Set(await threadsOfTwo())).toEqual(new Set(first));
      await vi.advanceTimersByTimeAsync(5_000);
      const later = new Set(await threadsOfTwo());
      expect(later.intersection(new Set(first)).size).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps six environments that are idle for long, of all functions: those that were used last', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const counters = Array.from({ length: 12 }, () => bundle('let calls = 0; export const handler = () => ++calls'));
    const callAll = async () => {
      const calls = [];
      for (const counter of counters) calls.push(await counter.invoke({}));
      return calls;
    };
    expect(await callAll()).toEqual(counters.map(() => 1));
    // Environments of other tests may begin their minute only now.
    vi.advanceTimersByTime(50_000);
    expect(await callAll()).toEqual(counters.map(() => 2));
    vi.advanceTimersByTime(70_000);
    expect(await callAll()).toEqual(counters.map((_, at) => (at < 6 ? 1 : 3)));
  });

  it('passes on what the handler throws, and goes on serving', async () => {
    const thrower = bundle(
      `export const handler = ({ fail }) => { if (fail) throw new TypeError('No.'); return 'fine' }`,
    );
    await expect(thrower.invoke({ fail: true })).rejects.toMatchObject({ errorType: 'TypeError', message: 'No.' });
    expect(await thrower.invoke({})).toBe('fine');
  });

  it.each([
    ['that waits', 'await new Promise(() => setInterval(() => {}, 1000))'],
    ['that computes', 'for (;;) {}'],
  ])('ends a handler %s for longer than its timeout, and goes on serving', async (_, code) => {
    const slow = bundle(`export const handler = async ({ hang }) => { if (hang) ${code}; return 'fine' }`);
    await expect(slow.invoke({ hang: true })).rejects.toMatchObject({
      errorType: 'Sandbox.Timedout',
      message: expect.stringContaining('Task timed out after 1.00 seconds'),
    });
    expect(await slow.invoke({})).toBe('fine');
  });

  it.each([
    ['exits', 'process.exit(3)'],
    ['runs out of memory', 'const all = []; for (;;) all.push(new Array(1e5).fill({}))'],
  ])('survives a handler that %s', async (_, code) => {
    const dying = bundle(`export const handler = async ({ die }) => { if (die) { ${code} } return 'fine' }`, {
      timeoutSeconds: 20,
    });
    await expect(dying.invoke({ die: true })).rejects.toMatchObject({ errorType: 'Runtime.ExitError' });
    expect(await dying.invoke({})).toBe('fine');
  });

  it.each([
    [
      'fails to load',
      `throw new Error('BATCHES_TABLE is missing'); export const handler = 1`,
      'BATCHES_TABLE is missing',
    ],
    ['has no such export', 'export const other = 1', 'handler is undefined or not exported'],
  ])('says why a bundle %s, at every call', async (_, source, message) => {
    const broken = bundle(source);
    await expect(broken.invoke({})).rejects.toThrow(message);
    await expect(broken.invoke({})).rejects.toThrow(message);
  });

  it('loads as many bundles at once as there are processors, and all of them in the end', async () => {
    const journal = join(directory, 'loads');
    const source = `import { appendFileSync } from 'node:fs';
      appendFileSync(${JSON.stringify(journal)}, '+');
      await new Promise((resolve) => setTimeout(resolve, 50));
      appendFileSync(${JSON.stringify(journal)}, '-');
      export const handler = () => 'loaded'`;
    const count = 3 * availableParallelism();
    const answers = await Promise.all(Array.from({ length: count }, () => bundle(source).invoke({})));
    expect(answers).toEqual(answers.map(() => 'loaded'));
    let loading = 0;
    const atOnce = Array.from(readFileSync(journal, 'utf8'), (sign) => (loading += sign === '+' ? 1 : -1));
    expect(atOnce).toHaveLength(2 * count);
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(availableParallelism());
  });

  it('counts the calls of a chain as Lambda does, for each function, and ends it after 16', async () => {
    const source = 'export const handler = () => process.env._X_AMZN_TRACE_ID';
    const [one, other] = [bundle(source, { name: 'one' }), bundle(source, { name: 'other' })];
    const chain = async (made: LambdaFunction, length: number, header?: string) => {
      let last = header;
      for (let call = 0; call < length; call++) {
        last = (await made.invoke({}, { traceHeaders: last === undefined ? [] : ['', last] })) as string;
      }
      return last!;
    };
    const header = await chain(other, 16, await chain(one, 16));
    expect(header).toMatch(/^Lineage=1:[0-9a-f]{8}:16\|[0-9a-f]{8}:16$/);
    await expect(chain(one, 1, header)).rejects.toMatchObject({ errorType: 'RecursiveInvocationException' });
    const allowed = bundle(source, { name: 'one', allowsRecursion: true });
    expect(await chain(allowed, 10, header)).toMatch(/:26\|[0-9a-f]{8}:16$/);
    expect(await chain(one, 1)).toMatch(/:1$/);
  });

  it("applies Lambda's limits of 6 MB", async () => {
    const large = bundle(`export const handler = ({ size }) => 'x'.repeat(size)`);
    await expect(large.invoke({ text: 'x'.repeat(6_300_000) })).rejects.toMatchObject({
      errorType: 'RequestTooLargeException',
    });
    await expect(large.invoke({ size: 6_300_000 })).rejects.toMatchObject({
      errorType: 'Function.ResponseSizeTooLarge',
    });
    expect(await large.invoke({ size: 6_000_000 })).toHaveLength(6_000_000);
  });

  it('writes what the handler prints to the log, line by line', async () => {
    await bundle(`export const handler = () => { console.log('one\\ntwo'); console.error('three') }`).invoke({});
    await expect.poll(() => lines).toEqual(expect.arrayContaining(['one', 'two', 'three']));
  });
});
