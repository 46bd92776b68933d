import { describe, expect, it } from 'vitest';
import { packIntegers, seal } from '../../../../functions/data/columns/packed-integers.ts';
import { blockWrites } from '../../../../functions/data/lists/column-writes.ts';

describe('blockWrites', () => {
  const [before, after] = [packIntegers([1]), packIntegers([2])];
  const edit = (key: string, summary: string) => ({ key, summary, apply: () => after });
  const edits = [edit('a', 's1'), edit('a', 's1'), edit('b', 's1'), edit('c', 's2')];
  const keysOf = (blocks: ReadonlyMap<string, Uint8Array>) => blockWrites(edits, blocks).map(({ key }) => key);

  it('deletes the summaries of the sealed blocks that it changes, each once', () => {
    expect(keysOf(new Map(['a', 'b', 'c'].map((key) => [key, before])))).toEqual(['a', 'b', 'c']);
    expect(keysOf(new Map(['a', 'b', 'c'].map((key) => [key, seal(before)])))).toEqual(['a', 'b', 'c', 's1', 's2']);
  });

  it('writes a block only where it is as it was read, and leaves one as it is that does not change', () => {
    const kept = { key: 'd', apply: (bytes: Uint8Array | undefined) => bytes };
    expect(
      blockWrites(
        [edits[0]!, kept],
        new Map([
          ['a', before],
          ['d', seal(before)],
        ]),
      ),
    ).toMatchObject([{ key: 'a', item: { v: after }, condition: { ExpressionAttributeValues: { ':old_v': before } } }]);
  });
});
