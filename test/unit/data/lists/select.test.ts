import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { facetCode } from '../../../../functions/data/columns/facets.ts';
import type { Column, FacetColumn, ListDescription } from '../../../../functions/data/columns/list-description.ts';
import { summarize } from '../../../../functions/data/columns/summary.ts';
import { evaluateSummaries, planSummaries } from '../../../../functions/data/lists/evaluate-summaries.ts';
import { type ColumnData, matchingRows } from '../../../../functions/data/lists/matching-rows.ts';
import type { SummarizedRows } from '../../../../functions/data/lists/page-bounds.ts';
import { planColumns } from '../../../../functions/data/lists/plan.ts';
import type { Condition, ListQuery, Order } from '../../../../functions/data/lists/query.ts';
import { addRow, emptyRowSet } from '../../../../functions/data/lists/row-set.ts';
import { select as selectRows } from '../../../../functions/data/lists/select.ts';
import type { Span } from '../../../../functions/data/lists/span.ts';
import { CorruptData } from '../../../../functions/errors.ts';
import { cases } from '../../../support/depth.ts';
import { seed } from '../../../support/seed.ts';

const facets: FacetColumn = {
  kind: 'facets',
  key: 'f',
  rowsPerBlock: 4,
  facets: {
    state: { kind: 'values', attribute: 'state', values: ['new', 'busy', 'done'] },
    open: { kind: 'values', attribute: 'open', values: [false, true] },
    faults: { kind: 'presence', attribute: 'faults' },
    begun: { kind: 'presence', attribute: 'started' },
    device: { kind: 'dictionary', attribute: 'device', capacity: 8 },
  },
};
/** What a page is chosen by, without the rows that match. */
function select(...args: Parameters<typeof selectRows>) {
  const { matching: _, ...selection } = selectRows(...args);
  return selection;
}

const integer = { kind: 'integer', key: 'n', attribute: 'size', rowsPerBlock: 4 } as const;
const list: ListDescription = {
  key: 'x',
  table: 'Jobs',
  rowsInTail: 4,
  textsPerBlock: 2,
  rowsPerSegment: 4,
  rowsPerTimeEntry: 2,
  columns: {
    id: { kind: 'uuid', key: 'i', attribute: 'id', rowsPerBlock: 4 },
    parent: { kind: 'uuid', key: 'p', attribute: 'parent', rowsPerBlock: 4 },
    facets,
    size: integer,
    started: { kind: 'time', key: 's', attribute: 'started', rowsPerBlock: 4 },
  },
  sets: {},
  rowDefaults: {},
};

/** Texts of the dictionary in order of first use: neither sorted nor in reverse. */
const devices = ['SV', 'MPS', 'é', 'FRESNEL', 'a'];

interface Row {
  readonly id: string;
  readonly parent: string;
  readonly state: string;
  readonly open: boolean;
  readonly faults: readonly string[] | null;
  readonly device: string;
  readonly size: number;
  readonly started: number | null;
}

/** Many share their first digits, some all digits, so that no prefix distinguishes all of them. */
const uuids = fc
  .tuple(
    fc.constantFrom('00000000-0000-4000-8000-', 'ffffffff-ffff-4000-8000-', '00000000-0000-4001-8000-'),
    fc.constantFrom('000000000000', '00000000000a', '7fffffffffff', '800000000000', 'fffffffffffe'),
  )
  .map((parts) => parts.join(''));

const rows = fc.array(
  fc.record<Row>({
    id: uuids,
    parent: uuids,
    state: fc.constantFrom('new', 'busy', 'done'),
    open: fc.boolean(),
    faults: fc.constantFrom(null, [], ['x'], ['x', 'y']),
    device: fc.constantFrom(...devices),
    size: fc.oneof(fc.nat(3), fc.constantFrom(0, 1e15)),
    started: fc.option(fc.constantFrom(0, 1, 2, 1_795_229_976_123_456, 1_795_229_976_123_457)),
  }),
  { maxLength: 40 },
);

/** An ordinary row. */
const plain: Row = {
  id: '00000000-0000-4000-8000-000000000000',
  parent: '00000000-0000-4000-8000-000000000000',
  state: 'new',
  open: false,
  faults: null,
  device: 'SV',
  size: 1,
  started: null,
};

type Sets = readonly (readonly number[])[];

function rowSet(rows: readonly number[]) {
  const set = emptyRowSet(rows.length === 0 ? 0 : Math.max(...rows) + 1);
  for (const row of rows) addRow(set, row);
  return set;
}

function dataOf(of: readonly Row[], sets: Sets): ColumnData {
  const dictionaries = { device: devices };
  const bytes = (name: 'id' | 'parent') => Buffer.from(of.map((row) => row[name].replaceAll('-', '')).join(''), 'hex');
  return {
    rowCount: of.length,
    read: [{ from: 0, to: of.length - 1 }],
    dictionaries,
    numbers: new Map([
      ['facets', Float64Array.from(of, (row) => facetCode(facets, { ...row }, dictionaries))],
      ['size', Float64Array.from(of, ({ size }) => size)],
      ['started', Float64Array.from(of, ({ started }) => started ?? Number.NaN)],
    ]),
    uuids: new Map([
      ['id', bytes('id')],
      ['parent', bytes('parent')],
    ]),
    sets: sets.map(rowSet),
  };
}

const some = <Value>(...values: Value[]) => fc.subarray(values);
const bound = fc.constantFrom(undefined, 0, 1, 2, 3, 1e15, 1_795_229_976_123_456);
const condition = fc.oneof(
  fc.record({ kind: fc.constant('facet'), facet: fc.constant('state'), oneOf: some('new', 'busy', 'done', 'other') }),
  fc.record({ kind: fc.constant('facet'), facet: fc.constant('open'), oneOf: some(false, true) }),
  fc.record({ kind: fc.constant('facet'), facet: fc.constant('faults'), oneOf: some(false, true) }),
  fc.record({ kind: fc.constant('facet'), facet: fc.constant('device'), oneOf: some(...devices, 'unheard of') }),
  fc.record({ kind: fc.constant('range'), column: fc.constantFrom('size', 'started'), from: bound, to: bound }),
  fc.record({ kind: fc.constant('ids'), oneOf: fc.array(uuids, { maxLength: 6 }) }),
  fc.record({ kind: fc.constant('idPrefix'), prefix: uuids.chain((id) => fc.nat(36).map((end) => id.slice(0, end))) }),
) as fc.Arbitrary<Condition>;
const order = fc.oneof(
  fc.constant({ kind: 'creation' }),
  fc.record({ kind: fc.constant('column'), column: fc.constantFrom('id', 'parent', 'size', 'started') }),
  fc.record({ kind: fc.constant('facet'), facet: fc.constantFrom('state', 'open', 'faults', 'device') }),
) as fc.Arbitrary<Order>;
const queries: fc.Arbitrary<ListQuery> = fc.record({
  conditions: fc.array(condition, { maxLength: 2 }),
  order,
  direction: fc.constantFrom('ASC', 'DESC'),
  offset: fc.oneof(fc.nat(20), fc.nat(45), fc.constant(Number.MAX_SAFE_INTEGER)),
  limit: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 100 })),
});
/** Ascending, as sets are. They may name rows that are newer than the columns. */
const sets = fc.array(
  fc.uniqueArray(fc.nat(45), { maxLength: 45 }).map((numbers) => numbers.sort((a, b) => a - b)),
  { maxLength: 2 },
);

/** Whether a row meets a condition, by its definition. */
function meets(row: Row, of: Condition): boolean {
  switch (of.kind) {
    case 'facet': {
      const value = { ...row, faults: (row.faults ?? []).length > 0 }[of.facet];
      return of.oneOf.includes(value as string | boolean);
    }
    case 'range': {
      const value = row[of.column as 'size' | 'started'];
      return value !== null && !(of.from !== undefined && value < of.from) && !(of.to !== undefined && value > of.to);
    }
    case 'ids':
      return of.oneOf.includes(row.id);
    case 'idPrefix':
      return row.id.startsWith(of.prefix);
    // What they name is in the data.
    case 'set':
    case 'created':
      return true;
  }
}

function sortValue(row: Row, by: Order): number | string | null {
  if (by.kind === 'creation') return 0;
  const name = by.kind === 'column' ? by.column : by.facet;
  if (name === 'state') return ['new', 'busy', 'done'].indexOf(row.state);
  if (name === 'faults') return Number((row.faults ?? []).length > 0);
  if (name === 'open') return Number(row.open);
  return row[name as 'id' | 'parent' | 'device' | 'size' | 'started'];
}

/** Sorts all rows that match and cuts the page out. */
function naively(of: readonly Row[], query: ListQuery, within: Sets) {
  const matching = of
    .map((row, seq) => ({ row, seq, value: sortValue(row, query.order) }))
    .filter(({ row, seq }) => within.every((set) => set.includes(seq)) && query.conditions.every((c) => meets(row, c)));
  const sign = query.direction === 'ASC' ? 1 : -1;
  matching.sort((a, b) => {
    if ((a.value === null) !== (b.value === null)) return a.value === null ? 1 : -1;
    if (a.value !== null && b.value !== null && a.value !== b.value) return a.value < b.value ? -sign : sign;
    return sign * (a.seq - b.seq);
  });
  const page = matching.slice(query.offset, query.offset + query.limit);
  return { sequence: page.map(({ seq }) => seq), total: matching.length, wanted: [] };
}

/**
 * What summaries of these segments show, and the spans of rows that they leave open. The summary of
 * the column `forget` is left out.
 */
function tellOf(query: ListQuery, data: ColumnData, isSummarized: (segment: number) => boolean, forget?: string) {
  const { summaries } = planColumns(list, query);
  const plan = planSummaries(list, query, data.dictionaries);
  const read: Span[] = [];
  const summarized: SummarizedRows[] = [];
  for (let from = 0; from < data.rowCount; from += list.rowsPerSegment) {
    const span = { from, to: Math.min(from + list.rowsPerSegment, data.rowCount) - 1 };
    const ofSegment = new Map(
      summaries
        .filter((name) => name !== forget)
        .map((name) => {
          const values = data.numbers.get(name)?.subarray(span.from, span.to + 1) ?? new Float64Array();
          return [name, summarize(list.columns[name] as Column, values)] as const;
        }),
    );
    const cells =
      summaries.length > 0 && isSummarized(from / list.rowsPerSegment)
        ? evaluateSummaries(plan, ofSegment, span)
        : undefined;
    if (cells === undefined) read.push(span);
    else summarized.push(...cells);
  }
  return { read, summarized };
}

describe('select', () => {
  it('chooses the same rows where some are summarized, and asks for the segments that may hold the page', () => {
    const runs = cases(3_000, 20_000);
    const ascending = Array.from({ length: 12 }, (_, size) => ({ ...plain, size }));
    const firstOfAll: [Row[], ListQuery, boolean[]] = [ascending, { ...by('size'), limit: 1 }, Array(10).fill(true)];
    let [pages, asked] = [0, 0];
    fc.assert(
      fc.property(
        rows,
        queries,
        fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
        (of, query, isSummarized) => {
          const data = dataOf(of, []);
          let { read, summarized } = tellOf(query, data, (segment) => isSummarized[segment] === true);
          if (summarized.length > 0) pages++;
          for (;;) {
            const found = select(list, query, { ...data, read }, summarized);
            expect(found.total).toBe(naively(of, query, []).total);
            if (found.wanted.length === 0) {
              expect(found.sequence).toEqual(naively(of, query, []).sequence);
              break;
            }
            asked++;
            expect(found.sequence).toEqual([]);
            const wanted = found.wanted.map(({ rows }) => rows);
            expect(wanted.every(({ from }) => !read.some((span) => span.from === from))).toBe(true);
            const segments = new Set(wanted.map(({ from }) => from));
            summarized = summarized.filter(({ rows: { from } }) => !segments.has(from));
            read = [...read, ...Array.from(segments, (from) => ({ from, to: Math.min(from + 3, of.length - 1) }))];
            read = read.toSorted((a, b) => a.from - b.from);
          }
        },
      ),
      { numRuns: runs, seed, examples: [firstOfAll] },
    );
    expect(pages).toBeGreaterThan(runs / 60);
    expect(asked).toBeGreaterThan(runs / 150);
  });

  it('chooses the same rows as sorting all that match and cutting the page out', () => {
    fc.assert(
      fc.property(rows, queries, sets, (of, query, within) => {
        expect(select(list, query, dataOf(of, within))).toEqual(naively(of, query, within));
      }),
      { numRuns: cases(500, 10_000), seed },
    );
  });

  const everything: ListQuery = {
    conditions: [],
    order: { kind: 'creation' },
    direction: 'ASC',
    offset: 0,
    limit: 100,
  };
  const by = (column: string) => ({ ...everything, order: { kind: 'column', column } }) as const;

  it('gives every row once to a walk over the pages, whatever the ties', () => {
    const of = Array.from({ length: 50 }, (_, seq) => ({ ...plain, started: seq % 3 === 0 ? null : seq % 2 }));
    for (const direction of ['ASC', 'DESC'] as const) {
      const seen: number[] = [];
      for (let offset = 0; offset < 50; offset += 7) {
        seen.push(...select(list, { ...by('started'), direction, offset, limit: 7 }, dataOf(of, [])).sequence);
      }
      expect(seen).toEqual(naively(of, { ...by('started'), direction }, []).sequence);
    }
  });

  it.each<[string, (row: number) => number]>([
    ['of few values', (row) => (row * 7919) % 13],
    ['all alike', () => 5],
    ['spread evenly', (row) => (row * 7919) % 100_003],
    ['dense except for two far away', (row) => (row < 2 ? row * 2 ** 53 : 2 ** 40 + ((row * 7919) % 10_007))],
    ['dense, and more and more far away', (row) => (row < 4_000 ? row % 11 : 1.01 ** (row - 2_000))],
    ['at two ends', (row) => (row % 2) * 2 ** 52 + ((row * 31) % 7)],
    ['nulls every third row', (row) => (row % 3 === 0 ? Number.NaN : (row * 7919) % 4_001)],
  ])('finds the page among many rows: %s', (_, sizeOf) => {
    const size = Float64Array.from({ length: 5_000 }, (__, row) => sizeOf(row));
    const ranked = Array.from(size.keys())
      .filter((row) => !Number.isNaN(size[row]))
      .sort((a, b) => size[a]! - size[b]!);
    const nulls = Array.from(size.keys()).filter((row) => Number.isNaN(size[row]));
    const read = [{ from: 0, to: 4_999 }];
    const data = {
      rowCount: 5_000,
      read,
      dictionaries: {},
      numbers: new Map([['size', size]]),
      uuids: new Map(),
      sets: [],
    };
    for (const direction of ['ASC', 'DESC'] as const) {
      const all = direction === 'ASC' ? [...ranked, ...nulls] : [...ranked.toReversed(), ...nulls.toReversed()];
      for (const [offset, limit] of [
        [0, 1],
        [0, 100],
        [1_000, 100],
        [2_450, 100],
        [2_499, 2],
        [4_950, 100],
        [0, 5_000],
      ] as const) {
        const query = { conditions: [], order: { kind: 'column', column: 'size' }, direction, offset, limit } as const;
        expect(select(list, query, data)).toEqual({
          sequence: all.slice(offset, offset + limit),
          total: 5_000,
          wanted: [],
        });
      }
    }
  });

  it('finds the page among many ids, also those that begin alike', () => {
    const count = 3_000;
    const ids = Buffer.alloc(count * 16);
    for (let row = 0; row < count; row++) {
      ids.writeUInt32BE(((row % 2) * 7919 * row) % 2 ** 32, row * 16);
      ids.writeUInt32BE((row * 104_729) % count, row * 16 + 12);
    }
    const hex = (row: number) => ids.toString('hex', row * 16, row * 16 + 16);
    const ranked = Array.from({ length: count }, (_, row) => row).sort((a, b) => (hex(a) < hex(b) ? -1 : 1));
    const read = [{ from: 0, to: count - 1 }];
    const data = {
      rowCount: count,
      read,
      dictionaries: {},
      numbers: new Map(),
      uuids: new Map([['id', ids]]),
      sets: [],
    };
    for (const offset of [0, 1_450, 1_499, 2_900]) {
      const order = { kind: 'column', column: 'id' } as const;
      const query = { conditions: [], order, direction: 'ASC', offset, limit: 100 } as const;
      expect(select(list, query, data)).toEqual({
        sequence: ranked.slice(offset, offset + 100),
        total: count,
        wanted: [],
      });
    }
  });

  it('puts texts last that the dictionary does not have yet', () => {
    const of = [{ ...plain, device: 'a' }, plain, { ...plain, device: 'MPS' }];
    const data = { ...dataOf(of, []), dictionaries: { device: devices.slice(0, 2) } };
    const query = { ...everything, order: { kind: 'facet', facet: 'device' } } as const;
    expect(select(list, query, data)).toEqual({ sequence: [2, 1, 0], total: 3, wanted: [] });
    expect(select(list, query, { ...data, dictionaries: {} })).toEqual({ sequence: [0, 1, 2], total: 3, wanted: [] });
    const ofDevice = { ...everything, conditions: [{ kind: 'facet', facet: 'device', oneOf: ['SV'] } as const] };
    expect(select(list, ofDevice, { ...data, dictionaries: {} })).toEqual({ sequence: [], total: 0, wanted: [] });
  });

  it.each(['size', 'started', 'id', 'parent'])('does not sort by a column that was not read: %s', (column) => {
    const data = { ...dataOf([plain], []), numbers: new Map(), uuids: new Map() };
    expect(() => select(list, by(column), data)).toThrow(new CorruptData(`The column ${column} was not read.`));
  });

  it('does not filter by a column that was not read', () => {
    const data = { ...dataOf([plain], []), numbers: new Map(), uuids: new Map() };
    const withCondition = (condition: Condition) => () => matchingRows(list, [condition], data);
    expect(withCondition({ kind: 'range', column: 'size' })).toThrow('The column size was not read.');
    expect(withCondition({ kind: 'ids', oneOf: [] })).toThrow('The column id was not read.');
    expect(withCondition({ kind: 'idPrefix', prefix: '' })).toThrow('The column id was not read.');
    expect(withCondition({ kind: 'facet', facet: 'open', oneOf: [] })).toThrow('The column facets was not read.');
  });

  it('refuses facets that the list does not have', () => {
    const unknown = [{ kind: 'facet', facet: 'colour', oneOf: ['red'] } as const];
    expect(() => matchingRows(list, unknown, dataOf([plain], []))).toThrow(new RangeError('No facet colour.'));
    const without = [
      { ...list, columns: {} },
      { ...list, columns: { facets: integer } },
    ];
    for (const other of without) {
      expect(() => matchingRows(other, unknown, dataOf([plain], []))).toThrow(
        new RangeError('The list has no facets.'),
      );
    }
  });
});

describe('matchingRows', () => {
  it('gives the rows that are in every set, in creation order', () => {
    const of = Array.from({ length: 6 }, (_, size) => ({ ...plain, size }));
    const condition = { kind: 'range', column: 'size', from: 2 } as const;
    const data = dataOf(of, [
      [0, 2, 3, 5, 7],
      [2, 4, 5, 7],
    ]);
    expect(Array.from(matchingRows(list, [condition], data))).toEqual([2, 5]);
    expect(Array.from(matchingRows(list, [], { ...data, sets: [emptyRowSet(0)] }))).toEqual([]);
    expect(Array.from(matchingRows(list, [], { ...data, sets: [] }))).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('gives the same verdict for all rows of one facet code', () => {
    const of = [plain, { ...plain, open: true }, plain, { ...plain, open: true }];
    const condition = { kind: 'facet', facet: 'open', oneOf: [true] } as const;
    expect(Array.from(matchingRows(list, [condition], dataOf(of, [])))).toEqual([1, 3]);
  });
});
