/** The form of a subject's limits: texts, as they are typed, and the limits that they mean. */

import { type LimitName, limitNames, limits } from '../../limits.ts';
import type { Limits } from '../../schemas/limits.ts';
import { texts } from '../ui/texts.ts';

const { limits: words } = texts;

/** A limit as the form holds it: empty where it is left out. */
export function limitText(limit: Limits[LimitName]): string {
  if (limit === undefined) return '';
  if (limit === null) return words.noneWord;
  return Array.isArray(limit) ? limit.join(', ') : String(limit);
}

/** What is set, with its label, in the order of the form. */
export function limitFacts(limits: Limits): [label: string, text: string][] {
  const given = limitNames.filter((name) => limits[name] !== undefined);
  return given.map((name) => [texts.limits.labels[name], limitText(limits[name]) || texts.limits.noDevice]);
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
      return text
        .split(',')
        .map((each) => each.trim())
        .filter((each) => each !== '');
    default:
      return Number.isNaN(Number(text)) ? text : Number(text);
  }
}
