/**
 * Parts of transactions that write heads and blocks, each on condition that it is as it was read.
 */

import { isDeepStrictEqual } from '../../values/is-deep-strict-equal.ts';
import type { BlockEdit } from '../columns/column-items.ts';
import { storedHead } from '../columns/dictionaries.ts';
import { emptyHead, type Head, headKey, type StoredHead } from '../columns/head.ts';
import type { ListDescription } from '../columns/list-description.ts';
import { isSealed } from '../columns/packed-integers.ts';
import { ifAbsent, ifUnchanged } from '../dynamodb/conditions.ts';
import type { Db } from '../dynamodb/db.ts';
import type { Write } from '../dynamodb/write-units.ts';

export interface ColumnWrite {
  readonly key: string;
  /** Undefined: the item is deleted. */
  readonly item: Readonly<Record<string, unknown>> | undefined;
  readonly condition?: ReturnType<typeof ifUnchanged>;
}

export function inColumns({ tables }: Db<'Columns'>, userId: string, { key, item, condition }: ColumnWrite): Write {
  const [TableName, Key] = [tables.Columns, { user_id: userId, key }];
  return item === undefined
    ? { Delete: { TableName, Key, ...condition } }
    : { Put: { TableName, Item: { ...Key, ...item }, ...condition } };
}

export function headWrite(list: ListDescription, before: Head | undefined, after: Head): ColumnWrite[] {
  if (isDeepStrictEqual(after, before ?? emptyHead(list))) return [];
  const condition = before === undefined ? ifAbsent('key') : ifHeadUnchanged(storedHead(list, before));
  return [{ key: headKey(list), item: { ...storedHead(list, after) }, condition }];
}

/**
 * Creations change the number of rows and the tail, folds the tail. A repair may change the format,
 * the texts or the tag of the name alone, and then nothing that was decided by them may be written.
 */
export function ifHeadUnchanged(head: StoredHead) {
  return ifUnchanged(head, ['next_seq', 'tail', 'format', 'dictionaries', 'n']);
}

/**
 * The blocks that the edits change, given the stored bytes of the blocks that exist. The summaries
 * of sealed ones are deleted: they may be gone already, so this is conditional on the blocks alone.
 */
export function blockWrites(edits: readonly BlockEdit[], blocks: ReadonlyMap<string, Uint8Array>): ColumnWrite[] {
  const summaries = new Set<string>();
  const writes = [...Map.groupBy(edits, ({ key }) => key)].flatMap(([key, ofBlock]): ColumnWrite[] => {
    const before = blocks.get(key);
    const after = ofBlock.reduce<Uint8Array | undefined>((bytes, edit) => edit.apply(bytes), before);
    if (before === after) return [];
    for (const { summary } of ofBlock) if (summary && before && isSealed(before)) summaries.add(summary);
    const condition = before === undefined ? ifAbsent('key') : ifUnchanged({ v: before }, ['v']);
    return [{ key, item: after && { v: after }, condition }];
  });
  return [...writes, ...Array.from(summaries, (key) => ({ key, item: undefined }))];
}
