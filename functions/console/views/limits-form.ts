/** The form of a subject's limits: texts, as they are typed, and the limits that they mean. */

import { type LimitName, limitNames, limits } from '../../limits.ts';
import type { Limits } from '../../schemas/limits.ts';
import { formatCount, formatSeconds } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';

const { limits: words } = texts;

/** A limit as the form holds it: empty where it is left out. */
export function limitText(limit: Limits[LimitName]): string {
  if (limit === undefined) return '';
  if (limit === null) return words.noneWord;
  if (Array.isArray(limit)) return limit.length === 0 ? words.noDevice : limit.join(', ');
  return String(limit);
}

/** A limit as people read it: `10 min`, `1,000`. */
export function readableLimit(name: LimitName, limit: Limits[LimitName]): string {
  if (limit === undefined) return words.notSet;
  if (typeof limit !== 'number') return limitText(limit);
  const { kind, ...facts } = limits[name];
  return kind !== 'devices' && 'unit' in facts && facts.unit === 'seconds' ? formatSeconds(limit) : formatCount(limit);
}

/** `at most 100 unfinished batches`. */
export function limitPhrase(name: LimitName, limit: Limits[LimitName]): string {
  const text = readableLimit(name, limit);
  if (text === words.noDevice) return text;
  return limit === undefined || limit === null ? `${words.labels[name]}: ${text}` : words.phrases[name](text);
}

/** The user, or the project, that a subject names; undefined for any other. */
export const userOf = (subject: string) => idAfter('user:', subject);
export const projectOf = (subject: string) => idAfter('project:', subject);

function idAfter(prefix: string, subject: string): string | undefined {
  return subject.startsWith(prefix) ? subject.slice(prefix.length) : undefined;
}

/** What is set, with its label, in the order of the form. */
export function limitFacts(limits: Limits): [label: string, text: string][] {
  const given = limitNames.filter((name) => limits[name] !== undefined);
  return given.map((name) => [words.labels[name], readableLimit(name, limits[name])]);
}

/**
 * What a form's texts mean. What should be a number and is none stays a text: the service refuses
 * it in its words.
 */
export function limitsOf(values: Readonly<Partial<Record<LimitName, string>>>): Record<string, unknown> {
  const given = limitNames
    .map((name) => [name, (values[name] ?? '').trim()] as const)
    .filter(([, text]) => text !== '');
  return Object.fromEntries(given.map(([name, text]) => [name, limitOf(name, text)]));
}

function limitOf(name: LimitName, text: string): unknown {
  if (text.toLowerCase() === words.noneWord) return null;
  switch (limits[name].kind) {
    case 'priority':
      return text;
    case 'devices':
      if (text === words.noDevice) return [];
      return text
        .split(',')
        .map((each) => each.trim())
        .filter((each) => each !== '');
    default:
      return Number.isNaN(Number(text)) ? text : Number(text);
  }
}
