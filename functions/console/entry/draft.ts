/** What the forms of a new batch and of further jobs hold, and what they send. */

import type { Fault } from '../client/fault-places.ts';
import { nameTag } from '../parts/batch-name.ts';
import { texts } from '../ui/texts.ts';
import { type JobDraft, readJob, shotsColumn } from './cell-values.ts';
import type { Program, Variable } from './program.ts';

export interface Draft {
  /**
   * Its batch is created under this key, however often it is sent: another one with each change of
   * the draft.
   */
  readonly key: string;
  readonly text: string;
  readonly fileName: string | undefined;
  readonly jobs: readonly JobDraft[];
  readonly project_id: string;
  /** Empty: the one that fits best. `asWritten`: the program's own. */
  readonly device_type: string;
  /** Empty: as the account has it. */
  readonly queue_priority: string;
  /** Sent as the first tag, after `name:`. */
  readonly name: string;
  /** Separated by commas or lines; one that has a comma is in double quotes. */
  readonly tags: string;
  readonly webhook: string;
  readonly open: boolean;
}

/** No device has such a name. */
export const asWritten = '(as written)';

export const emptyDraft: Draft = {
  key: '',
  text: '',
  fileName: undefined,
  jobs: [{ id: 1, runs: '100', values: {} }],
  project_id: '',
  device_type: '',
  queue_priority: '',
  name: '',
  tags: '',
  webhook: '',
  open: false,
};

/** What is sent, and what keeps it from being sent. */
interface Request {
  readonly body: object;
  readonly faults: readonly Fault[];
}

/**
 * The body that creates a draft's batch. `device` is the one that fits best; empty where the
 * service is to find it by the program.
 */
export function requestOf(draft: Draft, program: Program | undefined, device: string): Request {
  const { jobs, faults } = jobsOf(draft.jobs, program?.variables ?? []);
  const missing = { loc: ['body', 'sequence_builder'], msg: texts.newBatch.noProgram, type: 'missing' };
  const { open, name, project_id, queue_priority, webhook } = draft;
  const device_type = draft.device_type === asWritten ? '' : draft.device_type || device;
  const given = Object.entries({ project_id, device_type, queue_priority, webhook })
    .map(([member, value]) => [member, value.trim()] as const)
    .filter(([, value]) => value !== '');
  const tags = [...nameTags(name), ...tagsOf(draft.tags)];
  return {
    body: { sequence_builder: program?.text, jobs, open, tags: [...new Set(tags)], ...Object.fromEntries(given) },
    faults: program === undefined ? [missing, ...faults] : faults,
  };
}

/** The jobs as they are sent, and the texts in them that are no values. */
export function jobsOf(rows: readonly JobDraft[], variables: readonly Variable[]) {
  const read = rows.map((row) => readJob(row, variables));
  const faults = read.flatMap((each, at) =>
    each.faults.map(({ column, fault }): Fault => {
      const place = column === shotsColumn ? ['runs'] : ['variables', column];
      return { loc: ['body', 'jobs', at, ...place], msg: fault, type: 'value_error' };
    }),
  );
  return { jobs: read.map(({ job }) => job), faults };
}

/** The rows without those at some places. */
export function withoutJobs(rows: readonly JobDraft[], places: readonly number[]): readonly JobDraft[] {
  const gone = new Set(places);
  return rows.filter((_, at) => !gone.has(at));
}

/** The tags in a text, each once. */
export function tagsOf(text: string): readonly string[] {
  const parts = text.match(/[ \t]*"[^"\n]*"[ \t]*(?=[,\n]|$)|[^,\n]+/g) ?? [];
  const tags = parts.map((part) =>
    part
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .trim(),
  );
  return [...new Set(tags)].filter((tag) => tag !== '');
}

function nameTags(name: string): readonly string[] {
  return name.trim() === '' ? [] : [nameTag(name)];
}

/**
 * The faults under the places of the forms: the first tag is the name where there is one, and a
 * call that adds jobs sends nothing but them.
 */
export function placesOfForm<Placed extends Pick<Fault, 'loc'>>(
  faults: readonly Placed[],
  { name = '' }: Partial<Draft>,
): readonly Placed[] {
  const own = nameTags(name).length;
  return faults.map((fault) => {
    const [body, first, second, ...rest] = fault.loc;
    if (typeof first === 'number') return { ...fault, loc: ['body', 'jobs', ...fault.loc.slice(1)] };
    if (body !== 'body' || first !== 'tags' || typeof second !== 'number' || own === 0) return fault;
    return { ...fault, loc: second < own ? ['body', 'name', ...rest] : ['body', 'tags', second - own, ...rest] };
  });
}
