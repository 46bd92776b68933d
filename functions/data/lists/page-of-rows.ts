import { columnValue, type Row, setValues } from '../columns/column-items.ts';
import { type Dictionaries, withTextsOf } from '../columns/facets.ts';
import type { Column, ListDescription, PositionSets } from '../columns/list-description.ts';
import { byKind } from './joined-columns.ts';
import { columnsPlan } from './plan.ts';
import type { ListQuery, Page } from './query.ts';
import { select } from './select.ts';

/** The page of a query whose candidates are all in memory: their columns are made from them, and the same selection runs. */
export function pageOfRows(list: ListDescription, query: ListQuery, found: readonly Row[]): Page<Row> {
  const rows = found.toSorted((a, b) => a.seq - b.seq);
  const { columns, later } = columnsPlan(list, query);
  const needed = [...columns, ...later].map((name) => [name, list.columns[name] as Column] as const);
  const neededColumns = needed.map(([, column]) => column);
  const dictionaries = rows.reduce<Dictionaries>((learned, row) => withTextsOf(neededColumns, row, learned), {});
  const sets = query.conditions
    .filter((condition) => condition.kind === 'set')
    .map(({ sets, oneOf }) => positionsIn(list.sets[sets] as PositionSets, oneOf, rows));
  const values = needed.map(([name, column]) => [name, joined(column, rows, dictionaries)] as const);
  const { sequence, total } = select(list, query, { rowCount: rows.length, dictionaries, sets, ...byKind(values) });
  return { items: sequence.map((at) => rows[at] as Row), total };
}

function joined(column: Column, rows: readonly Row[], dictionaries: Dictionaries): Float64Array | Buffer {
  const values = rows.map((row) => columnValue(column, row, dictionaries));
  return column.kind === 'uuid'
    ? Buffer.from(values.join('').replaceAll('-', ''), 'hex')
    : Float64Array.from(values, (value) => (value === null ? Number.NaN : Number(value)));
}

function positionsIn(sets: PositionSets, oneOf: readonly string[], rows: readonly Row[]): number[] {
  return rows.flatMap((row, at) => (setValues(sets, row).intersection(new Set(oneOf)).size > 0 ? [at] : []));
}
