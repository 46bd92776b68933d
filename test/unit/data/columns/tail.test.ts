import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedRowsOf, changeItems } from '../../../../functions/data/columns/changes.ts';
import {
  type BlockEdit,
  blockKey,
  columnPrefix,
  columnValue,
  type Row,
  type RowChange,
  unpackColumn,
} from '../../../../functions/data/columns/column-items.ts';
import { storedHead, textsOf } from '../../../../functions/data/columns/dictionaries.ts';
import { type Dictionaries, withTextsOf } from '../../../../functions/data/columns/facets.ts';
import { emptyHead, type Head } from '../../../../functions/data/columns/head.ts';
import type { Column, ListDescription } from '../../../../functions/data/columns/list-description.ts';
import { columnChanges, foldedColumns, tailStart } from '../../../../functions/data/columns/tail.ts';
import { rowOfTimeEntry } from '../../../../functions/data/columns/time-index.ts';
import { cases } from '../../../support/depth.ts';
import { seed } from '../../../support/seed.ts';

const columns = {
  id: { kind: 'uuid', key: 'i', attribute: 'id', rowsPerBlock: 3 },
  count: { kind: 'integer', key: 'n', attribute: 'count', rowsPerBlock: 4 },
  time: { kind: 'time', key: 't', attribute: 'time', rowsPerBlock: 5 },
  facets: {
    kind: 'facets',
    key: 'f',
    rowsPerBlock: 7,
    facets: { text: { kind: 'dictionary', attribute: 'text', capacity: 50 } },
  },
} as const satisfies Record<string, Column>;
const list: ListDescription = {
  key: 'l',
  table: 'Batches',
  rowsInTail: 4,
  textsPerBlock: 2,
  rowsPerSegment: 140,
  rowsPerTimeEntry: 6,
  columns,
  sets: { tag: { key: 's', attribute: 'tags', rowsPerBlock: 8 } },
  rowDefaults: {},
};

/** What is stored of an owner, and the rows that it was made from. */
interface Stored {
  readonly head: Head;
  readonly blocks: ReadonlyMap<string, Uint8Array>;
  readonly rows: readonly Row[];
}

const nothing: Stored = { head: emptyHead(list), blocks: new Map(), rows: [] };

const createdAt = (seq: number) => `2026-03-01T00:00:00.${String(seq).padStart(6, '0')}Z`;

/** A transaction and a fold: rows that are created and changed, new ones among the latter. */
interface Step {
  readonly created: readonly Omit<Row, 'seq'>[];
  readonly changed: readonly (readonly [place: number, members: object])[];
}

const newRow = (row: Omit<Row, 'seq'>, seq: number): Row => ({ ...row, seq, created_at: createdAt(seq) });

function commitChanges(
  { head, blocks, rows }: Stored,
  { created, changed }: Step,
): Stored & { edited: readonly string[] } {
  const after = [...rows, ...created.map((row, at) => newRow(row, rows.length + at))];
  const touched = new Set(created.map((_, at) => rows.length + at));
  for (const [place, members] of changed) {
    if (after.length === 0) continue;
    const seq = place % after.length;
    touched.add(seq);
    after[seq] = { ...(after[seq] as Row), ...members };
  }
  const changes: RowChange[] = Array.from(touched, (seq) => ({ before: rows[seq], after: after[seq] as Row }));
  const dictionaries = after.reduce<Dictionaries>(
    (learned, row) => withTextsOf(Object.values(columns), row, learned),
    head.dictionaries,
  );
  const counted = { ...head, next_seq: after.length, dictionaries };
  const stored = new Map(blocks);
  const edited: string[] = [];
  const edit = (edits: readonly BlockEdit[]) => {
    for (const { key, apply } of edits) {
      const block = apply(stored.get(key));
      if (block !== stored.get(key)) edited.push(key);
      if (block === undefined) stored.delete(key);
      else stored.set(key, block);
    }
  };
  const written = columnChanges(list, { before: head, after: counted }, changes);
  edit(written.edits);
  const existing = changes.flatMap(({ before, after: row }) => (before === undefined ? [] : [row]));
  const items = [...changeItems(list, existing, dictionaries).values()];
  const folded = foldedColumns(
    list,
    { ...counted, tail: written.tail },
    new Map(items.flatMap((item) => [...changedRowsOf(list, item)])),
  );
  edit(folded.edits);
  return { head: { ...counted, tail: folded.tail }, blocks: stored, rows: after, edited };
}

/**
 * Checks that blocks hold exactly the rows before the tail, and the tail exactly the others.
 * Likewise blocks hold exactly the texts before the head's texts. The index of times has every
 * sixth row.
 */
function expectSound({ head, blocks, rows }: Stored) {
  const start = tailStart(list, head);
  for (const column of Object.values(columns)) {
    const values = rows.map((row) => columnValue(column, row, head.dictionaries));
    const found = Array.from({ length: Math.ceil(start / column.rowsPerBlock) }, (_, block) => {
      const bytes = blocks.get(blockKey(columnPrefix(list, column), block));
      return bytes === undefined ? [] : unpackColumn(column, bytes);
    });
    expect(found.flat()).toEqual(values.slice(0, start));
    const tail = head.tail[column.key];
    expect(tail === undefined ? [] : unpackColumn(column, tail)).toEqual(values.slice(start));
  }
  const { text: texts = [] } = head.dictionaries;
  expect(textsOf(list, 'text', storedHead(list, head), (key) => blocks.get(key))).toEqual(texts);
  const blocksOfTexts = [...blocks.keys()].filter((key) => key.startsWith('l#texts#'));
  expect(blocksOfTexts).toHaveLength(Math.floor(texts.length / list.textsPerBlock));
  const times = [...blocks].flatMap(([key, v]) => (key.startsWith('l#times#') ? [[key, rowOfTimeEntry({ v })]] : []));
  const indexed = rows.filter((_, seq) => seq > 0 && seq % list.rowsPerTimeEntry === 0);
  expect(times).toEqual(indexed.map(({ seq }) => [`l#times#${createdAt(seq)}`, seq]));
  const blocksOfColumns = [...blocks.keys()].filter((key) => !/^l#(s|texts|times)#/.test(key));
  const expected = Object.values(columns).map(({ rowsPerBlock }) => Math.ceil(start / rowsPerBlock));
  expect(blocksOfColumns).toHaveLength(expected.reduce((sum, count) => sum + count));
}

const uuid = fc.uuid({ version: 4 });
const text = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'é', '\ud800', '"', '');
const content = {
  count: fc.option(fc.nat(1_000)),
  time: fc.option(fc.constantFrom('2026-03-01T00:00:00.000000Z', '2026-03-02T00:00:00.000001Z')),
  tags: fc.subarray(['p', 'q']),
};
const step: fc.Arbitrary<Step> = fc.record({
  created: fc.array(fc.record({ id: uuid, text, ...content }), { maxLength: 6 }),
  changed: fc.array(fc.tuple(fc.nat(40), fc.record(content, { requiredKeys: [] })), { maxLength: 4 }),
});

describe('the tail', () => {
  it('and the blocks hold every value of every row, after any transactions', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let stored = nothing;
        for (const each of steps) {
          const start = tailStart(list, stored.head);
          stored = commitChanges(stored, each);
          expectSound(stored);
          expect(tailStart(list, stored.head)).toBeGreaterThanOrEqual(start);
          expect(stored.rows.length - tailStart(list, stored.head)).toBeLessThanOrEqual(list.rowsInTail);
        }
      }),
      { numRuns: cases(100, 1_000), seed },
    );
  });

  const plain = (id: number) => ({
    id: `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`,
    text: 'a',
    count: id,
    time: null,
    tags: [],
  });
  const storedAfter = (rows: number) =>
    Array.from({ length: rows }, (_, id) => id).reduce<Stored>(
      (stored, id) => commitChanges(stored, { created: [plain(id)], changed: [] }),
      nothing,
    );

  it.each([
    [0, 0],
    [1, 0],
    [4, 0],
    [5, 4],
    [8, 4],
    [9, 8],
  ])('of %i rows begins with row %i, so the newest row is always in it', (rows, start) => {
    expect(tailStart(list, storedAfter(rows).head)).toBe(start);
  });

  it('takes new rows and their changes without touching a block, until it is full', () => {
    const full = storedAfter(4);
    expect([...full.blocks.keys()]).toEqual([]);
    const members = { time: '2026-03-01T00:00:00.000000Z' };
    expect(commitChanges(full, { created: [], changed: [[0, members]] }).edited).toEqual([]);
    const next = commitChanges(full, { created: [plain(4)], changed: [[0, members]] });
    expect([...new Set(next.edited)].sort()).toEqual([
      'l#f#0000000',
      'l#i#0000000',
      'l#i#0000001',
      'l#n#0000000',
      'l#t#0000000',
    ]);
    expect(commitChanges(next, { created: [], changed: [[0, { count: 9 }]] }).edited).toEqual(['l#n#0000000']);
    expect(commitChanges(next, { created: [], changed: [[0, {}]] }).edited).toEqual([]);
  });

  it('leaves out a row that the head does not count', () => {
    const { head } = storedAfter(2);
    const row = { ...plain(9), seq: 2, text: 'unheard of' };
    expect(columnChanges(list, { before: head, after: head }, [{ before: row, after: row }])).toEqual({
      edits: [],
      changes: new Map(),
      tail: head.tail,
    });
  });
});
