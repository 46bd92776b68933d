import { examine, type Outcome } from '../smoke/examine.ts';
import type { Acceptance } from './acceptance.ts';
import { beyondEmulator } from './beyond-emulator.ts';
import { hasHeld, type Report } from './report.ts';
import type { Step, StepName } from './steps.ts';

interface Run {
  readonly steps: Readonly<Record<string, Step>>;
  readonly report: Report;
  readonly commit: string;
  readonly restores: boolean;
  /** The first that runs, whether it held before or not; all after it run as well. */
  readonly from?: string | undefined;
  /** The only one that runs, before what closes. */
  readonly again?: string | undefined;
  print(line: string): void;
  /** Keeps the report, which has one more step. */
  save(report: Report): void;
}

/**
 * Runs the steps that are due, which have not held for this commit, and then what closes them.
 * Whatever ends the process, the report has every step that ended before. Ends at a required step
 * that fails. Returns the report.
 */
export async function runSteps(acceptance: Acceptance, run: Run): Promise<Report> {
  const { print } = run;
  let { report } = run;
  for (const [name, step] of dueSteps(run)) {
    print(`\n${name}: ${step.proves} (at most ${step.dollars.toFixed(2)} $)`);
    const start = Date.now();
    const checks: Record<string, Outcome> = {};
    for (const [promise, check] of Object.entries(step.checks)) {
      const outcome =
        report.engine === 'AWS'
          ? await examine(check, acceptance)
          : await examineInEmulator(`${name}: ${promise}`, () => examine(check, acceptance));
      checks[promise] = outcome;
      const indented = outcome.detail === '' ? '' : `\n${' '.repeat(12)}${outcome.detail}`;
      print(`  ${outcome.result.padEnd(9)} ${promise}${indented}`);
    }
    const seconds = Math.round((Date.now() - start) / 1_000);
    const at = new Date(start).toISOString();
    report = { ...report, steps: { ...report.steps, [name]: { commit: run.commit, at, seconds, checks } } };
    run.save(report);
    if (step.required && !hasHeld(report.steps[name as StepName], run.commit)) break;
  }
  return report;
}

function dueSteps({ steps, report, commit, restores, from, again }: Run): [string, Step][] {
  const all = Object.entries(steps).filter(([, { option }]) => option === undefined || restores);
  const first = from === undefined ? all.length : all.findIndex(([name]) => name === from);
  const isDue = (name: string, at: number) =>
    again === undefined ? at >= first || !hasHeld(report.steps[name as StepName], commit) : name === again;
  const due = all.filter(([name], at) => isDue(name, at));
  return due.length === 0 ? [] : all.filter((each) => due.includes(each) || each[1].closes);
}

/** What is beyond the emulator fails there; where it holds, the list names too much. */
async function examineInEmulator(name: string, check: () => Promise<Outcome>): Promise<Outcome> {
  const beyond = beyondEmulator[name];
  if (beyond === undefined) return check();
  const { result } = beyond.untried ? { result: 'not here' } : await check();
  if (result === 'holds') return { result: 'fails', detail: 'It holds by now: take it off the list.' };
  return { result: 'not here', detail: beyond.why };
}
