/**
 * What never changes of a row, where it is long: it lies beside the sequences, in an item of its
 * own, gzipped. It is written once, in the transaction that creates the row. In the row it would be
 * paid for with each status, and again in each index. The row holds a short marker in the place of
 * each text. Rows of earlier releases hold the texts themselves, and are read as before.
 *
 * One item for each row, not one for all rows of a call: a worker and a page read single ones.
 */

import { createHash } from 'node:crypto';
import { CorruptData } from '../../errors.ts';
import { finalBatchStatuses, finalJobStatuses } from '../../statuses.ts';
import { isDeepStrictEqual } from '../../values/is-deep-strict-equal.ts';
import { zlib } from '../../values/zlib.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet, type Item } from '../dynamodb/reads.ts';
import { attributeBytes } from '../dynamodb/write-units.ts';

/** Attributes of batches and jobs: texts, or null. They are set when the row is created. */
const constantNames = ['variables', 'configuration', 'backend_configuration'] as const;

/** An item holds no more than this once it is unpacked: 50 KB of a request, escaped. */
const maxUnpackedBytes = 1_000_000;

/** How rows were read: through an index they may be old. */
export interface RowsRead {
  readonly mayBeOld?: boolean;
}

/** A row as it is stored, or what goes into one. */
export type Content = Readonly<Record<string, unknown>>;

/** The constants of a row or of its content, by name; nulls are left out. */
function constantsIn(content: Content): [name: string, text: string][] {
  return constantNames.flatMap((name) => {
    const text = content[name];
    return typeof text === 'string' ? [[name, text]] : [];
  });
}

/** What a row holds in the place of a text. A text that looks like a marker always lies apart. */
function markerOf(text: string): string {
  return `#${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
}

function isMarker(text: unknown): boolean {
  return typeof text === 'string' && /^#[\w-]{22}$/.test(text);
}

const markerBytes = 23;

/** Constants of fewer bytes always stay in their row. */
export const leastApart = 64;

/**
 * The new row as it is stored. Its constants lie apart where it would have more KB with them than
 * with their markers once it has grown by this number of bytes; or where one looks like a marker.
 */
export function markConstants<Row extends Content>(row: Row, growth: number): Row {
  const texts = constantsIn(row);
  const bytes = texts.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
  const grown = attributeBytes(row) + growth;
  const markers = markerBytes * texts.length;
  const isLarger = bytes >= leastApart && kilobytes(grown) > kilobytes(grown - bytes + markers);
  if (!isLarger && !texts.some(([, text]) => isMarker(text))) return row;
  return { ...row, ...Object.fromEntries(texts.map(([name, text]) => [name, markerOf(text)])) };
}

function kilobytes(bytes: number): number {
  return Math.ceil(bytes / 1_024);
}

/** The constants of this content, as the item beside their row holds them. */
export function packConstants(content: Content): Uint8Array {
  return zlib().gzipSync(JSON.stringify(Object.fromEntries(constantsIn(content))));
}

/**
 * The id of a row's constants in the table Sequences. No id of a row has a `#`. A batch and a job
 * of events may have the same id.
 */
export function constantsId(row: Content): string {
  return `${row.id}#${'variables' in row ? 'variables' : 'configuration'}`;
}

/** Whether the attribute of a row holds this value, in itself or apart. */
export function holdsValue({ name, stored }: { readonly name: string; readonly stored: unknown }, value: unknown) {
  const mayBeApart = constantNames.some((each) => each === name) && isMarker(stored);
  return mayBeApart ? isApart(stored, value) : isDeepStrictEqual(stored, value);
}

/** Whether this text lies apart, by what its row holds in its place. */
function isApart(stored: unknown, text: unknown): boolean {
  return typeof text === 'string' && stored === markerOf(text);
}

/** The row with each of these constants whose marker it has. */
export function withTexts<Row extends Content>(row: Row, content: Content): Row {
  const texts = constantsIn(content).filter(([name, text]) => isApart(row[name], text));
  return texts.length === 0 ? row : { ...row, ...Object.fromEntries(texts) };
}

/** Whether any constant of the row lies apart. */
export function hasMarker(row: Content): boolean {
  return constantNames.some((name) => isMarker(row[name]));
}

/**
 * The rows with their constants, in their order. Rows without markers cost nothing; the others half
 * a read unit for each 4 KB of a row's gzipped constants, 100 rows in one call. A replica may not
 * have an item yet: such items are read again, strongly consistent.
 *
 * Constants are erased with their batch. So a row that has ended and was read just before shows
 * nulls; where rows may be old, any row does. Throws CorruptData where constants of another row are
 * missing.
 */
export async function withConstants<Row extends Content>(
  db: Db<'Sequences'>,
  rows: readonly Row[],
  { mayBeOld = false }: RowsRead = {},
): Promise<readonly Row[]> {
  const keys = rows.filter(hasMarker).map((row) => ({ user_id: row.user_id, id: constantsId(row) }));
  if (keys.length === 0) return rows;
  const keyOf = ({ user_id, id }: Item) => JSON.stringify([user_id, id]);
  const found = new Map<string, Content>();
  for (const consistent of [false, true]) {
    const missing = keys.filter((key) => !found.has(keyOf(key)));
    const items = await batchGet(db, { table: 'Sequences', keys: missing, consistent });
    for (const item of items) found.set(keyOf(item), unpack(item));
  }
  const textsOf = (row: Content) => found.get(keyOf({ user_id: row.user_id, id: constantsId(row) }));
  return rows.map((row) => (hasMarker(row) ? fill(row, textsOf(row), mayBeOld || hasEnded(row)) : row));
}

/** Whether constants of the row were erased before withConstants has read them. */
export function hasLost(row: Content, shown: Content): boolean {
  return constantNames.some((name) => isMarker(row[name]) && shown[name] === null);
}

function fill<Row extends Content>(row: Row, texts: Content = {}, mayBeErased: boolean): Row {
  const marked = constantNames.filter((name) => isMarker(row[name]));
  const isErased = mayBeErased && Object.keys(texts).length === 0;
  if (!isErased && !marked.every((name) => isApart(row[name], texts[name]))) {
    throw new CorruptData(`The constants of ${row.id} are missing, or are others.`);
  }
  return { ...row, ...Object.fromEntries(marked.map((name) => [name, texts[name] ?? null])) };
}

function hasEnded({ status }: Content): boolean {
  return [...finalBatchStatuses, ...finalJobStatuses].some((final) => final === status);
}

function unpack({ id, v }: Item): Content {
  try {
    return JSON.parse(zlib().gunzipSync(v, { maxOutputLength: maxUnpackedBytes }).toString());
  } catch (error) {
    throw new CorruptData(`The constants of ${id} cannot be read.`, { cause: error });
  }
}
