/**
 * Compares what the service says of sequences with what Pulser says (judge.py).
 *
 * usage: judge.py COUNT SEED | node compare-verdicts.ts. The exit code is 1 when the service
 * refuses what Pulser accepts.
 */

import { text } from 'node:stream/consumers';
import {
  type JudgedSequence,
  judgeJobs,
  judgeSequence,
  runsFaults,
} from '../../functions/sequences/sequence-faults.ts';
import { loadSchemas, readSpecification } from '../../functions/sequences/sequence-form.ts';

await loadSchemas();

interface Case {
  readonly sequence: string;
  readonly specs: string | null;
  readonly variables: Record<string, unknown>;
  readonly runs: number | null;
  /** Null: Pulser accepts it. */
  readonly refusal: string | null;
}

/** The types of the faults that the service finds. */
function faultTypes({ sequence, specs, variables, runs }: Case): string[] {
  const announced = specs === null ? undefined : readSpecification(specs);
  const { faults, content }: JudgedSequence = judgeSequence(JSON.parse(sequence), announced);
  const ofJob = content === undefined ? [] : judgeJobs(content, announced)({ variables }).faults;
  return [...faults, ...ofJob, ...runsFaults(runs, announced)].map(({ type }) => type);
}

interface Comparison {
  readonly accepted: number;
  readonly refused: number;
  /** Of what Pulser refuses, as many are refused here, too. */
  readonly found: number;
  /** Refusals by type. */
  readonly struck: Readonly<Record<string, number>>;
  /** What Pulser accepts and the service refuses: there must be none. */
  readonly contradictions: readonly object[];
  /** What Pulser alone refuses, in its words. */
  readonly missed: Readonly<Record<string, number>>;
}

/** Compares the lines of the judge. */
export function compareVerdicts(lines: readonly string[]): Comparison {
  const cases = lines.filter((line) => line !== '').map((line): Case => JSON.parse(line));
  const judged = cases.map((each) => ({ ...each, types: faultTypes(each) }));
  const refused = judged.filter(({ refusal }) => refusal !== null);
  const missed = refused.filter(({ types }) => types.length === 0);
  return {
    accepted: cases.length - refused.length,
    refused: refused.length,
    found: refused.length - missed.length,
    struck: counts(judged.flatMap(({ types }) => [...new Set(types)])),
    contradictions: judged.filter(({ refusal, types }) => refusal === null && types.length > 0),
    missed: counts(missed.map(({ refusal }) => String(refusal).slice(0, 120))),
  };
}

function counts(names: readonly string[]): Record<string, number> {
  const entries = Array.from(
    Map.groupBy(names, (name) => name),
    ([name, all]) => [name, all.length] as const,
  );
  return Object.fromEntries(entries.sort(([, one], [, other]) => other - one));
}

if (import.meta.main) {
  const comparison = compareVerdicts((await text(process.stdin)).split('\n'));
  console.log(JSON.stringify(comparison, null, 1).slice(0, 12_000));
  const { contradictions, accepted, found } = comparison;
  process.exitCode = contradictions.length > 0 || accepted === 0 || found === 0 ? 1 : 0;
}
