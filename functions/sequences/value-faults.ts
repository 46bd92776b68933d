/** Asks the rules of numbers again, with the numbers that each job gives. */

import { readVariables } from '../pulser/parameter-values.ts';
import { variablesIn } from '../pulser/parameters.ts';
import type { Operation, SequenceContent, Specification } from '../pulser/sequence-content.ts';
import { type Filling, withValues } from '../pulser/with-values.ts';
import type { Fault } from '../schemas/faults.ts';
import { channelRules, leastLength } from './channel-rules.ts';
import { judgedBy } from './judged.ts';
import { pulseRules } from './pulse-rules.ts';
import type { Finding, Judged, Rule } from './rule.ts';

export interface JudgedValues {
  /** Each kind of fault once for each variable: `path` is from the job. */
  readonly faults: readonly Fault[];
  /** Whether an operation has a number that the values do not make certain. */
  readonly isUncertain?: boolean;
  /** The values were not looked at. */
  readonly isPassedOver?: true;
}

/**
 * How much is looked at: numbers, texts and objects in the operations that change, counted for each
 * job again. Two million take about a second.
 */
const maxValuesJudged = 2_000_000;

const numberRules = [...channelRules, ...pulseRules].filter(({ terms }) => terms !== undefined);

/**
 * Judges the values that a job gives to the variables. Looks for each job at the operations that
 * use variables, and at no others. Passes over jobs once it has looked at much.
 */
export function judgeValues(
  content: SequenceContent,
  announced: Specification | undefined,
): (given: Readonly<Record<string, unknown>>) => JudgedValues {
  const judges = withoutEqual(judgedBy(content, announced));
  const changing: (readonly [number, (filling: Filling) => Operation])[] = [];
  const otherLengths = new Map<string, number>();
  for (const [at, operation] of content.operations.entries()) {
    const { channel = '' } = operation;
    const fill = withValues(operation);
    if (fill !== undefined) changing.push([at, fill]);
    else otherLengths.set(channel, (otherLengths.get(channel) ?? 0) + leastLength(operation));
  }
  if (changing.length === 0 || judges.length === 0) return () => ({ faults: [] });
  const deciding = decidingVariables(content);
  const size = changing.reduce((sum, [at]) => sum + countValues(content.operations[at]), 0);
  let judged = 0;
  return (given) => {
    if (judged > 0 && judged + size > maxValuesJudged) return { faults: [], isPassedOver: true };
    judged += size;
    const filling = { variables: readVariables(content, plainNumbers(given)), isUncertain: false };
    const operations = changing.map(([at, fill]) => [at, fill(filling)] as const);
    const found = new Map<string, Fault>();
    for (const judge of judges) {
      for (const rule of numberRules) {
        if (rule.judge !== undefined && (rule.judge === 'own') !== judge.isOwn) continue;
        for (const finding of rule.find({ ...judge, changed: { operations, otherLengths } })) {
          const names = deciding(rule, finding);
          const [name] = names;
          // What no variable decides was found in the sequence itself.
          if (name === undefined) continue;
          const path = names.length === 1 ? ['variables', name] : [];
          const key = JSON.stringify([rule.type, path]);
          const message = `operations[${finding.path[1]}]: ${finding.message}`;
          if (!found.has(key)) found.set(key, { type: rule.type, path, message });
        }
      }
    }
    return { faults: [...found.values()], isUncertain: filling.isUncertain };
  };
}

/** The values in a value, itself among them. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + countValues(each), 1);
}

/** Without the announced device where it has the same bounds as the sequence's own. */
function withoutEqual(judges: readonly Judged[]): readonly Judged[] {
  const bounds = judges.map(({ device }) => JSON.stringify([device.channels, device.max_sequence_duration]));
  return judges.filter((_, at) => at === 0 || bounds[at] !== bounds[0]);
}

/** Finds the variables that decide a number at fault. Keeps what it finds: jobs are many. */
function decidingVariables(content: SequenceContent) {
  const known = new Map<string, readonly string[]>();
  return ({ type, terms }: Rule, { path }: Finding): readonly string[] => {
    const key = JSON.stringify([type, path]);
    const operation = content.operations[Number(path[1])];
    const names = known.get(key) ?? [
      ...new Set(variablesIn(operation && terms?.(operation, String(path[2]), content))),
    ];
    known.set(key, names);
    return names;
  };
}

/** The values with doubles in place of raw numbers. */
function plainNumbers(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const plain = (value: unknown): unknown => {
    if (JSON.isRawJSON(value)) return Number(value.rawJSON);
    return Array.isArray(value) ? value.map(plain) : value;
  };
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, plain(value)]));
}
