import { describe, expect, it } from 'vitest';
import type { Acceptance } from '../../../infra/acceptance/acceptance.ts';
import { beyondEmulator } from '../../../infra/acceptance/beyond-emulator.ts';
import { type Report, reportRows } from '../../../infra/acceptance/report.ts';
import { runSteps } from '../../../infra/acceptance/run-steps.ts';
import { type Step, steps } from '../../../infra/acceptance/steps.ts';

/** What only AWS can show. This list may only shrink. */
const onlyOnAws = [
  'before: CloudFormation reads the template',
  'smoke: a gzipped body of 10 characters is read',
  'smoke: a gzipped body of 300,000 characters is read',
  'smoke: what says gzip and is not is 422',
  'smoke: answers are compressed for those who accept it, and only for them',
  'smoke: a preflight of each path allows its methods and the token',
  'smoke: a request is in its function’s log, with its user and without its token',
  'smoke: a request is in the access log, with its user',
  'smoke: the metric Throttled has values',
  'smoke: the metric JwksAge has values',
  'smoke: the metric ReadUnits-listBatches has values',
  'smoke: the metric EventAge-Events has values',
  'smoke: the metric UnclaimedDevices has values',
  'smoke: every saved query runs',
  'smoke: an alarm reaches the topic',
  'smoke: a link ends',
  'routes: eraseBatch',
  'permissions: roles allow what `uses` say, and nothing else',
  'read back: the API has kept its TLS policy and endpoint',
  'read back: TLS 1.1 is refused, TLS 1.2 is not',
  'read back: functions on a queue’s circle are allowed it, all others are not',
  'read back: functions start in less than 2 s',
  'read back: alarms that ask for a quota of the account have values',
  'many jobs: tables that were written to are hardly throttled',
  'rotation: the public key changes, and the former one is kept',
  'remove: nothing of before can bring them back',
];

describe('the steps', () => {
  it('cost at most 2 $ together', () => {
    expect(Object.values(steps).reduce((sum, { dollars }) => sum + dollars, 0)).toBeLessThanOrEqual(2);
  });

  it('run in the emulator, but for those that are named here, and are there', () => {
    const all = Object.entries(steps).flatMap(([name, { checks }]) =>
      Object.keys(checks).map((promise) => `${name}: ${promise}`),
    );
    expect(all.length).toBeGreaterThan(100);
    expect(Object.keys(beyondEmulator).filter((name) => !onlyOnAws.includes(name))).toEqual([]);
    expect(Object.keys(beyondEmulator).filter((name) => !all.includes(name))).toEqual([]);
  });
});

describe('running steps', () => {
  const acceptance = {} as Acceptance;

  /** Three steps that note their names. Some fail. */
  function fakeSteps(ran: string[], failing: readonly string[], required: readonly string[] = []) {
    const step = (name: string): Step => ({
      ...{ proves: `that ${name} works`, dollars: 0.5, ...(required.includes(name) && { required: true as const }) },
      checks: {
        async works() {
          ran.push(name);
          if (failing.includes(name)) throw new Error(`${name} is broken`);
          return 'as it is';
        },
      },
    });
    return { first: step('first'), second: step('second'), third: step('third') };
  }

  async function run(
    options: {
      failing?: string[];
      required?: string[];
      report?: Report;
      commit?: string;
      from?: string;
      again?: string;
    } = {},
  ) {
    const ran: string[] = [];
    const saved: Report[] = [];
    const printed: string[] = [];
    const report = await runSteps(acceptance, {
      steps: fakeSteps(ran, options.failing ?? [], options.required),
      report: options.report ?? { engine: 'AWS', stack: 'Any', steps: {} },
      ...{ commit: options.commit ?? 'a', restores: false, from: options.from, again: options.again },
      print: (line) => printed.push(line),
      save: (each) => saved.push(each),
    });
    return { ran, report, saved, printed };
  }

  it('keeps the report after each, and goes on where a step failed', async () => {
    const { ran, report, saved, printed } = await run({ failing: ['second'] });
    expect(ran).toEqual(['first', 'second', 'third']);
    expect(saved.map(({ steps }) => Object.keys(steps).length)).toEqual([1, 2, 3]);
    expect(printed.join('\n')).toContain('second: that second works (at most 0.50 $)');
    const again = await run({ report });
    expect(again.ran).toEqual(['second']);
    expect((await run({ report: again.report })).ran).toEqual([]);
  });

  it('ends where a required step fails', async () => {
    expect((await run({ failing: ['first'], required: ['first'] })).ran).toEqual(['first']);
  });

  it('runs all for another commit, one again, or all from one', async () => {
    const { report } = await run();
    expect((await run({ report, commit: 'b' })).ran).toEqual(['first', 'second', 'third']);
    expect((await run({ report, again: 'second' })).ran).toEqual(['second']);
    expect((await run({ report, from: 'second' })).ran).toEqual(['second', 'third']);
  });

  it('runs what closes after any other, and not by itself', async () => {
    const ran: string[] = [];
    const { first, second } = fakeSteps(ran, []);
    const common = { steps: { first, second: { ...second, closes: true as const } }, restores: false };
    const options = { ...common, commit: 'a', print: () => {}, save: () => {} };
    const report = await runSteps(acceptance, { ...options, report: { engine: 'AWS', stack: 'Any', steps: {} } });
    await runSteps(acceptance, { ...options, report });
    expect(ran).toEqual(['first', 'second']);
    await runSteps(acceptance, { ...options, report, again: 'first' });
    expect(ran).toEqual(['first', 'second', 'first', 'second']);
  });

  it('runs a step with an option only where this is asked for', async () => {
    const ran: string[] = [];
    const { first, second } = fakeSteps(ran, []);
    const some = { first, second: { ...second, option: 'with-restore' as const } };
    const common = { steps: some, commit: 'a', print: () => {}, save: () => {} };
    await runSteps(acceptance, { ...common, restores: false, report: { engine: 'AWS', stack: 'Any', steps: {} } });
    expect(ran).toEqual(['first']);
    await runSteps(acceptance, { ...common, restores: true, report: { engine: 'AWS', stack: 'Any', steps: {} } });
    expect(ran).toEqual(['first', 'first', 'second']);
  });

  it('fails in the emulator where it can what it is said not to', async () => {
    const promise = 'TLS 1.1 is refused, TLS 1.2 is not';
    const outcome = async (check: () => Promise<void>) => {
      const report = await runSteps(acceptance, {
        steps: { 'read back': { proves: '', dollars: 0, checks: { [promise]: check } } },
        report: { engine: 'ministack', stack: 'Any', steps: {} },
        ...{ commit: 'a', restores: false, print() {}, save() {} },
      });
      return report.steps['read back']?.checks[promise];
    };
    expect(await outcome(async () => {})).toMatchObject({ result: 'fails', detail: expect.stringMatching(/list/) });
    expect(await outcome(() => Promise.reject(new Error()))).toEqual({ result: 'not here', detail: 'it has no TLS' });
  });
});

describe('the table of the report', () => {
  const outcome = { result: 'holds', detail: '5 s' } as const;
  const step = { commit: 'a', at: '2026-11-24T01:02:03.004Z', seconds: 5, checks: { kept: outcome } };
  const { rotation } = steps;

  it('says that nothing was run without a report of AWS', () => {
    const report = { engine: 'ministack', stack: 'Any', steps: { rotation: step } } as const;
    for (const none of [undefined, report]) {
      expect(reportRows({ rotation }, none)).toEqual([['rotation', rotation.proves, '0.01 $', '0 of 1', 'never run']]);
    }
  });

  it('has what held, with its facts, and what did not', () => {
    const checks = { kept: outcome, broken: { result: 'fails', detail: 'a | b' } } as const;
    const report = { engine: 'AWS', stack: 'Any', steps: { rotation: { ...step, checks } } } as const;
    const [[, , , , text] = []] = reportRows({ rotation }, report);
    expect(text).toBe('1 of 2 on 2026-11-24; 5 s; **broken** fails: a \\| b');
  });
});
