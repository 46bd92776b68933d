import { join } from 'node:path';
import { readJsonFile } from '../commands/json-file.ts';
import type { Outcome } from '../smoke/examine.ts';
import { beyondEmulator } from './beyond-emulator.ts';
import type { Step, StepName } from './steps.ts';

/** What an acceptance found, as it is committed. It holds no secrets, and no account's id. */
export interface Report {
  readonly engine: 'AWS' | 'ministack';
  readonly stack: string;
  readonly steps: Partial<Record<StepName, StepReport>>;
}

interface StepReport {
  /** Of what was deployed. */
  readonly commit: string;
  readonly at: string;
  readonly seconds: number;
  readonly checks: Readonly<Record<string, Outcome>>;
}

/** Where the report of AWS is, from the root of the repository. There is none before the first. */
export const reportFile = 'docs/reference/acceptance.json';

export function readReport(): Report | undefined {
  return readJsonFile<Report>(join(import.meta.dirname, '../..', reportFile));
}

/** Whether all of a step holds, of the present code. */
export function hasHeld(step: StepReport | undefined, commit: string): boolean {
  return step?.commit === commit && Object.values(step.checks).every(({ result }) => result !== 'fails');
}

/** The rows of a table: each step, what it costs, where it runs, and what AWS showed. */
export function reportRows(steps: Readonly<Record<string, Step>>, report: Report | undefined): string[][] {
  return Object.entries(steps).map(([name, step]) => [
    name,
    step.proves,
    `${step.dollars.toFixed(2)} $`,
    emulatorText(name, step),
    report?.engine === 'AWS' ? awsText(report.steps[name as StepName]) : 'never run',
  ]);
}

function emulatorText(name: string, { checks }: Step): string {
  const promises = Object.keys(checks);
  const beyond = promises.filter((promise) => beyondEmulator[`${name}: ${promise}`] !== undefined);
  return `${promises.length - beyond.length} of ${promises.length}`;
}

function awsText(step: StepReport | undefined): string {
  if (step === undefined) return 'never run';
  const outcomes = Object.entries(step.checks);
  const held = outcomes.filter(([, { result }]) => result === 'holds');
  const others = outcomes.filter(([, { result }]) => result !== 'holds');
  return [
    `${held.length} of ${outcomes.length} on ${step.at.slice(0, 10)}`,
    ...held.flatMap(([, { detail }]) => (detail === '' ? [] : [detail])),
    ...others.map(([promise, { result, detail }]) => `**${promise}** ${result}: ${detail}`),
  ]
    .join('; ')
    .replaceAll('|', '\\|');
}
