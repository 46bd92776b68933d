import type { Page } from '../../values/page.ts';
import { columnValue, type Row, setValues } from '../columns/column-items.ts';
import { type Dictionaries, withTextsOf } from '../columns/facets.ts';
import type { Column, ListDescription, PositionSets } from '../columns/list-description.ts';
import { keepCreated } from './created-rows.ts';
import { type ColumnValues, splitByKind } from './join-blocks.ts';
import { planColumns } from './plan.ts';
import type { ListQuery } from './query.ts';
import { addRow, emptyRowSet, type RowSet } from './row-set.ts';
import { countRanks, type FacetQuery, select } from './select.ts';

/**
 * The page of a query whose candidates are all in memory. Their columns are made from them, and the
 * usual selection runs.
 */
export function pageOfRows(list: ListDescription, query: ListQuery, candidates: readonly Row[]): Page<Row> {
  const { rows, data } = columnsOf(list, query, candidates);
  const { sequence, total } = select(list, query, data);
  return { items: sequence.map((index) => rows[index] as Row), total };
}

/** As countColumns, of candidates that are all in memory. */
export function countsOfRows(list: ListDescription, query: FacetQuery, candidates: readonly Row[]) {
  return countRanks(list, query, columnsOf(list, query, candidates).data);
}

export function columnsOf(list: ListDescription, query: ListQuery, candidates: readonly Row[]) {
  const rows = keepCreated(query.conditions, candidates).toSorted((a, b) => a.seq - b.seq);
  const columns = planColumns(list, query).names.map((name) => [name, list.columns[name] as Column] as const);
  const dictionaries = learnTexts(
    columns.map(([, column]) => column),
    rows,
  );
  const values = columns.map(([name, column]) => [name, makeColumn(column, rows, dictionaries)] as const);
  const sets = query.conditions
    .filter((condition) => condition.kind === 'set')
    .map((condition) => findPositions(list.sets[condition.sets] as PositionSets, condition.oneOf, rows));
  const read = [{ from: 0, to: rows.length - 1 }];
  return { rows, data: { rowCount: rows.length, read, dictionaries, sets, ...splitByKind(values) } };
}

/** Dictionaries of just these rows. The owner's own are in the head, which is not read. */
function learnTexts(columns: readonly Column[], rows: readonly Row[]): Dictionaries {
  return rows.reduce<Dictionaries>((dictionaries, row) => withTextsOf(columns, row, dictionaries), {});
}

function makeColumn(column: Column, rows: readonly Row[], dictionaries: Dictionaries): ColumnValues {
  const values = rows.map((row) => columnValue(column, row, dictionaries));
  return column.kind === 'uuid'
    ? Buffer.from(values.join('').replaceAll('-', ''), 'hex')
    : Float64Array.from(values, (value) => (value === null ? Number.NaN : Number(value)));
}

/** Indexes of the rows that are in one of the sets. */
function findPositions(sets: PositionSets, oneOf: readonly string[], rows: readonly Row[]): RowSet {
  const wanted = new Set(oneOf);
  const found = emptyRowSet(rows.length);
  for (const [index, row] of rows.entries()) if (!setValues(sets, row).isDisjointFrom(wanted)) addRow(found, index);
  return found;
}
