/**
 * The head item: one per owner and list. It changes when rows are created, and when changes of the
 * newest rows are folded: `next_seq` and `tail` together are its version.
 *
 * Part of the stored format: what is written today must be read by every later release.
 */

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { CorruptData, OutdatedColumns } from '../../errors.ts';
import { Count, Timestamp } from '../../schemas/values.ts';
import type { Dictionaries } from './facets.ts';
import { type Column, describedAttributes, type Facet, type ListDescription } from './list-description.ts';

export const StoredHead = z.object({
  /**
   * Fingerprint of the description that the owner's columns and sets were written by (see
   * formatOf); absent while a repair rebuilds them.
   */
  format: z.optional(z.string()),
  /** Also the number of rows, as sequence numbers have no gaps. */
  next_seq: Count,
  last_created_at: z.nullable(Timestamp),
  /**
   * Of each dictionary, by its attribute, the texts that follow those in blocks (see
   * dictionaries.ts).
   */
  dictionaries: z.record(z.string(), z.array(z.string())),
  /** How many blocks of texts each dictionary has; absent where none has any. */
  dictionary_blocks: z.optional(z.record(z.string(), Count)),
  /** The newest rows' values, packed like a block, by the keys of their columns (see tail.ts). */
  tail: z.record(z.string(), z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array)),
  /**
   * Of the batches: the tag of the name that the user's items of Contributors have (see nameTag).
   * Absent where one of them may have another name, or none.
   */
  n: z.optional(z.string()),
});
export type StoredHead = z.infer<typeof StoredHead>;

/** The head as writers need it: with all texts, wherever they are stored. */
export interface Head extends Omit<StoredHead, 'dictionaries' | 'dictionary_blocks'> {
  readonly dictionaries: Dictionaries;
  /** So that no stored head passes for one with all texts. */
  readonly dictionary_blocks?: never;
}

/**
 * Raise it when the same description gives other bytes: another layout of a block, or another rule
 * for what a column holds.
 */
const layoutVersion = 4;

/**
 * The same without items of changes (changes.ts). A transaction that changes rows raises the format
 * of both heads.
 */
const formerLayoutVersion = 3;

export function headKey(list: ListDescription): string {
  return `${list.key}#head`;
}

/** What a head remembers of a name: 24 bits of its hash. */
export function nameTag(userName: string): string {
  return createHash('sha256').update(userName).digest('base64url').slice(0, 4);
}

/** The head of an owner without rows. */
export function emptyHead(list: ListDescription): Head & StoredHead {
  return { format: formatOf(list), next_seq: 0, last_created_at: null, dictionaries: {}, tail: {} };
}

/**
 * The head as it is stored (undefined: there is none), of whatever format. Throws CorruptData when
 * it breaks its schema. Call requireFormat before reading or writing columns with it.
 */
export function headOf(list: ListDescription, item: Readonly<Record<string, unknown>> | undefined): StoredHead {
  if (item === undefined) return emptyHead(list);
  const head = StoredHead.safeParse(item);
  if (!head.success) throw new CorruptData(`The head of a user's ${list.table} is corrupt: ${head.error.message}`);
  return head.data;
}

/**
 * The same head; throws OutdatedColumns when the owner's columns were written by another
 * description.
 */
export function requireFormat(list: ListDescription, head: StoredHead): StoredHead {
  if (isOfFormat(list, head)) return head;
  throw new OutdatedColumns(
    `A user's columns of ${list.table} are of another format (${head.format ?? 'none'} instead of ${formatOf(list)}): ` +
      'npm run repair -- --fix rewrites them.',
  );
}

/** Whether the owner's columns can be read by this description. */
export function isOfFormat(list: ListDescription, { format }: Pick<StoredHead, 'format'>): boolean {
  return format === formatOf(list) || format === formerFormatOf(list);
}

const formats = new WeakMap<ListDescription, readonly [former: string, present: string]>();

/**
 * Fingerprint of everything in the description that decides what is stored: 8 characters. Names of
 * columns and facets, and the order of columns, decide nothing.
 */
export function formatOf(list: ListDescription): string {
  return formatsOf(list)[1];
}

/** Of a head that the release before has written. It has no changes beside it. */
export function formerFormatOf(list: ListDescription): string {
  return formatsOf(list)[0];
}

function formatsOf(list: ListDescription): readonly [former: string, present: string] {
  const known = formats.get(list);
  if (known !== undefined) return known;
  const both = [fingerprint(list, formerLayoutVersion), fingerprint(list, layoutVersion)] as const;
  formats.set(list, both);
  return both;
}

function fingerprint(list: ListDescription, version: number): string {
  const blocks = [...Object.values(list.columns).map(columnFormat), ...Object.values(list.sets).map(setsFormat)];
  const defaults = Object.entries(list.rowDefaults).filter(([name]) => describedAttributes(list).has(name));
  const text = JSON.stringify([
    version,
    list.key,
    list.rowsInTail,
    list.textsPerBlock,
    list.rowsPerSegment,
    list.rowsPerTimeEntry,
    blocks.sort(),
    defaults.sort(),
  ]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

function columnFormat(column: Column): string {
  const content = column.kind === 'facets' ? Object.values(column.facets).map(facetFormat) : column.attribute;
  return JSON.stringify([column.key, column.kind, column.rowsPerBlock, content]);
}

function facetFormat(facet: Facet): unknown[] {
  switch (facet.kind) {
    case 'values':
      return [facet.kind, facet.attribute, facet.values];
    case 'dictionary':
      return [facet.kind, facet.attribute, facet.capacity];
    case 'presence':
      return [facet.kind, facet.attribute];
    case 'counted':
      return [facet.kind, facet.attribute, facet.member];
  }
}

function setsFormat({ key, attribute, rowsPerBlock }: ListDescription['sets'][string]): string {
  return JSON.stringify([key, 'sets', rowsPerBlock, attribute]);
}
