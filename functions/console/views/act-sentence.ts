/** What operators and administrators did, in sentences. */

import { limitNames } from '../../limits.ts';
import type { Act } from '../../schemas/audit.ts';
import type { Limits } from '../../schemas/limits.ts';
import { linkTo } from '../ui/address.ts';
import { cutEnd } from '../ui/cut-text.ts';
import { formatMoment, formatSeconds } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { limitPhrase, projectOf, readableLimit, userOf } from './limits-form.ts';

const { audit: words } = texts.operate;

/** An entry, with the name of who did it. */
export type Entry = Act & { readonly operator_name?: string | null };

/** A text, or one that leads somewhere. */
type Part = string | { readonly text: string; readonly link: string };

/** Names that the trail does not have, and where its batches are. */
export interface Context {
  readonly projectName: (id: string) => string | undefined;
  readonly batchLink: (target: Act['target']) => string;
}

type Sentence = (act: Act, context: Context) => readonly Part[];
type Values = Readonly<Record<string, unknown>>;

/** `paused FRESNEL: Calibration until noon.`: what follows the name of who did it. */
export function sentenceOf(act: Act, context: Context): readonly Part[] {
  // A service may know an action that this page does not.
  const sentence = (sentences as Readonly<Record<string, Sentence | undefined>>)[act.action];
  const parts = sentence?.(act, context) ?? [act.action];
  const last = parts.at(-1)!;
  const isCut = (typeof last === 'string' ? last : last.text).endsWith('…');
  return [...parts, act.reason === null ? (isCut ? '' : '.') : `: ${act.reason}`];
}

const sentences = {
  'device.set': ({ target, before, after }) => {
    const { mode, windows, ...bounds } = after ?? {};
    const device = deviceOf(target);
    const lists: (readonly Part[])[] = [];
    if (typeof mode === 'string') lists.push([words.modes[mode as keyof typeof words.modes] ?? mode, ' ', device]);
    if (Array.isArray(windows)) {
      const all = windows.map(windowText).join(', ');
      lists.push(all === '' ? [words.noWindows, ' ', device] : [words.windows, ' ', device, ` (${all})`]);
    }
    const set = Object.keys(bounds).map((name) => boundText(name, bounds, before ?? {}));
    if (set.length > 0) lists.push([words.bounds, ' ', device, ` (${set.join(', ')})`]);
    if (lists.length === 0) return [words.setDevice, ' ', device];
    return lists.flatMap((each, at) => (at === 0 ? each : [words.and, ...each]));
  },
  'batch.cancel': (act, context) => [`${words.canceled} `, ...batchOf(act, context)],
  'batch.close': (act, context) => [`${words.closed} `, ...batchOf(act, context)],
  'batch.read': (act, context) => [`${words.read} `, ...batchOf(act, context)],
  'batch.priority': (act, context) => [
    `${words.gave} `,
    ...batchOf(act, context),
    ` ${words.priority(priorityIn(act.after), priorityIn(act.before))}`,
  ],
  'job.cancel': (act, context) => [act.target.job_id === undefined ? words.jobs : words.job, ...batchOf(act, context)],
  'limits.put': ({ target, before, after }, context) => [
    `${words.setLimits} `,
    subjectOf(target, context),
    `: ${limitChanges((before ?? {}) as Limits, (after ?? {}) as Limits)}`,
  ],
  'limits.delete': ({ target }, context) => [`${words.removedLimits} `, subjectOf(target, context)],
} as const satisfies Record<Act['action'], Sentence>;

function priorityIn(values: Values | null): string {
  return String(values?.queue_priority ?? texts.common.none);
}

function deviceOf({ device_type = '' }: Act['target']): Part {
  return { text: device_type, link: linkTo(['operate', 'device', device_type]) };
}

function windowText(window: unknown): string {
  const { starts_at = '', ends_at = '', reason = '' } = window as Readonly<Record<string, string>>;
  return `${formatMoment(starts_at)} – ${formatMoment(ends_at)}: ${reason}`;
}

function boundText(name: string, after: Values, before: Values): string {
  const text = (value: unknown) => (typeof value === 'number' ? formatSeconds(value) : texts.limits.noneWord);
  const label = words.boundNames[name as keyof typeof words.boundNames] ?? name;
  return `${label} ${text(after[name])}, ${words.was} ${text(before[name])}`;
}

/** `Ada Lovelace’s batch f575fbab…` */
function batchOf({ target }: Act, { batchLink }: Context): readonly Part[] {
  const { user_id = '', user_name = cutEnd(user_id, 9), batch_id = '' } = target;
  return [words.batchOf(user_name), ' ', { text: cutEnd(batch_id, 9), link: batchLink(target) }];
}

function subjectOf({ subject = '', user_name }: Act['target'], { projectName }: Context): Part {
  const [user, project] = [userOf(subject), projectOf(subject)];
  const link = linkTo(['operate', 'limits'], { subject });
  if (user !== undefined) return { text: user_name ?? cutEnd(user, 9), link };
  if (project === undefined) return { text: texts.operate.limits.kinds.default, link };
  return { text: `${texts.operate.limits.project} ${projectName(project) ?? cutEnd(project, 9)}`, link };
}

/** `at most 100 unfinished batches (was 50)`. */
function limitChanges(before: Limits, after: Limits): string {
  const changed = limitNames.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (changed.length === 0) return words.noLimits;
  return changed
    .map((name) => `${limitPhrase(name, after[name])} (${words.was} ${readableLimit(name, before[name])})`)
    .join('; ');
}
