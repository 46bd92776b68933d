/**
 * Where the texts of dictionaries are stored. The head holds the newest. As soon as there are
 * `textsPerBlock`, they leave it for a block, which is never changed again: the Columns table holds
 * it under the dictionary's attribute. So an owner of few texts has them in the head alone, and a
 * head stays small however many they become.
 *
 * The head alone says how many blocks a dictionary has. Blocks beyond are not read.
 *
 * Part of the stored format: what is written today must be read by every later release.
 */

import { type BlockEdit, blockKey } from './column-items.ts';
import type { Dictionaries } from './facets.ts';
import type { Head, StoredHead } from './head.ts';
import type { ListDescription } from './list-description.ts';

/** The part of their keys where columns and sets have their own `key`. */
export const dictionariesKey = 'texts';

/** Begins the keys of all blocks of texts. */
export function dictionariesPrefix(list: ListDescription): string {
  return `${list.key}#${dictionariesKey}#`;
}

function textsKey(list: ListDescription, attribute: string, block: number): string {
  return blockKey(`${dictionariesPrefix(list)}${attribute}#`, block);
}

/** The head as it is stored: without the texts that are in blocks. */
export function storedHead(
  { textsPerBlock }: ListDescription,
  { dictionaries, dictionary_blocks, ...head }: Head,
): StoredHead {
  const rest: StoredHead['dictionaries'] = {};
  const blocks: Record<string, number> = {};
  for (const [attribute, texts] of Object.entries(dictionaries)) {
    const full = Math.floor(texts.length / textsPerBlock);
    rest[attribute] = texts.slice(full * textsPerBlock);
    if (full > 0) blocks[attribute] = full;
  }
  return { ...head, dictionaries: rest, ...(Object.keys(blocks).length > 0 && { dictionary_blocks: blocks }) };
}

/** The blocks that become full when these dictionaries follow those. */
export function dictionaryEdits(list: ListDescription, before: Dictionaries, after: Dictionaries): BlockEdit[] {
  const { textsPerBlock } = list;
  return Object.entries(after).flatMap(([attribute, texts]) => {
    const first = Math.floor((before[attribute]?.length ?? 0) / textsPerBlock);
    const full = Array.from({ length: Math.floor(texts.length / textsPerBlock) - first }, (_, at) => first + at);
    return full.map((block) => ({
      key: textsKey(list, attribute, block),
      apply: () => packTexts(texts.slice(block * textsPerBlock, (block + 1) * textsPerBlock)),
    }));
  });
}

/**
 * All texts of one dictionary, from the head and the stored bytes of its blocks; undefined when a
 * block is missing or is not a block of texts.
 */
export function textsOf(
  list: ListDescription,
  attribute: string,
  { dictionaries, dictionary_blocks }: StoredHead,
  bytesOf: (key: string) => unknown,
): readonly string[] | undefined {
  const texts: string[] = [];
  const blocks = dictionary_blocks?.[attribute] ?? 0;
  for (let block = 0; block < blocks; block++) {
    const inBlock = unpackTexts(list, bytesOf(textsKey(list, attribute, block)));
    if (inBlock === undefined) return undefined;
    texts.push(...inBlock);
  }
  return [...texts, ...(dictionaries[attribute] ?? [])];
}

/** The key of the block with the newest text of a dictionary; undefined while the head has it. */
export function newestTextKey(
  list: ListDescription,
  attribute: string,
  { dictionaries, dictionary_blocks }: Pick<StoredHead, 'dictionaries' | 'dictionary_blocks'>,
): string | undefined {
  const blocks = dictionary_blocks?.[attribute] ?? 0;
  return blocks === 0 || dictionaries[attribute]?.length ? undefined : textsKey(list, attribute, blocks - 1);
}

function packTexts(texts: readonly string[]): Uint8Array {
  return Buffer.from(JSON.stringify(texts));
}

/** Undefined where the bytes are no block of texts. */
export function unpackTexts({ textsPerBlock }: ListDescription, bytes: unknown): string[] | undefined {
  if (!(bytes instanceof Uint8Array)) return undefined;
  try {
    const texts: unknown = JSON.parse(Buffer.from(bytes).toString());
    const isSound = Array.isArray(texts) && texts.length === textsPerBlock;
    return isSound && texts.every((text) => typeof text === 'string') ? texts : undefined;
  } catch {
    return undefined;
  }
}
