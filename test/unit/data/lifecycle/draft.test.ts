import { describe, expect, it } from 'vitest';
import { ownerFormats } from '../../../../functions/data/columns/lists.ts';
import { type Draft, emptyDraft, fits } from '../../../../functions/data/lifecycle/draft.ts';

const empty = emptyDraft(ownerFormats, {
  heads: { batch: undefined, job: undefined },
  batches: new Map(),
  jobs: new Map(),
  processedCalls: new Map(),
});
/** Two edits of each block. */
const editsOf = (blocks: number) =>
  Array.from({ length: 2 * blocks }, (_, at) => ({ key: `block ${at % blocks}`, apply: () => undefined }));
const events = (count: number) => Array.from({ length: count }, (_, number) => ({ id: `${number}`, digest: '' }));
const sequencesOf = (...bytes: readonly number[]) =>
  new Map(bytes.map((length, number) => [`${number}`, new Uint8Array(length)]));

describe('fits', () => {
  it.each<[string, Partial<Draft>, boolean]>([
    ['98 blocks beside the two heads', { edits: editsOf(98) }, true],
    ['99 blocks beside the two heads', { edits: editsOf(99) }, false],
    ['90 blocks and 8 events', { edits: editsOf(90), processedCalls: events(8) }, true],
    ['90 blocks and 9 events', { edits: editsOf(90), processedCalls: events(9) }, false],
    ['90 blocks and 8 writes into other tables', { edits: editsOf(90), writes: Array(8).fill({}) }, true],
    ['90 blocks and 9 writes into other tables', { edits: editsOf(90), writes: Array(9).fill({}) }, false],
    ['90 blocks and 8 projects', { edits: editsOf(90), contributors: Array(8).fill({}) }, true],
    ['90 blocks and 9 projects', { edits: editsOf(90), contributors: Array(9).fill({}) }, false],
    ['rows of 400 KB', { bytes: 400_000 }, true],
    ['a byte more', { bytes: 400_001 }, false],
    ['sequences of 400 KB beside them', { bytes: 400_000, sequences: sequencesOf(300_000, 100_000) }, true],
    ['a byte more of sequences', { sequences: sequencesOf(300_000, 100_001) }, false],
  ])('says of %s whether a transaction of 100 items and 1,000 units on each key holds it', (_, content, expected) => {
    expect(fits({ ...empty, ...content })).toBe(expected);
  });
});
