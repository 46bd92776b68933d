import type { BatchRow } from '../../schemas/batch-row.ts';
import type { JobRow } from '../../schemas/job-row.ts';
import { blockEdits, type Head, type Row } from '../lists/column-items.ts';
import { type Dictionaries, withTextsOf } from '../lists/facets.ts';
import type { ListDescription } from '../lists/list-description.ts';

/** A row that is created (no `before`) or replaced. */
export interface RowChange {
  readonly list: ListDescription;
  readonly before: BatchRow | JobRow | undefined;
  readonly after: BatchRow | JobRow;
}

/** The head of a list from which rows take their sequence numbers; `before` is undefined where the owner has none yet. */
export interface HeadChange {
  readonly list: ListDescription;
  readonly before: Head | undefined;
  readonly after: Head;
}

/** The event that a change carries out: kept beside it, in the same transaction, so that it is never carried out again. */
export interface EventMark {
  readonly id: string;
  /** Tells a repeated event from another one that was given the same id. */
  readonly digest: string;
}

/** What one transaction changes of one owner's rows; the blocks of columns and sets follow from it. */
export interface Change {
  readonly rows: readonly RowChange[];
  readonly heads: readonly HeadChange[];
  readonly mark?: EventMark | undefined;
}

/** Keys of the blocks that change with a row. They do not depend on the owner's dictionaries: those of the row itself do. */
export function blockKeys({ list, before, after }: RowChange): string[] {
  return blockEdits(list, before, after, withTextsOfRow(list, after, {})).map((edit) => edit.key);
}

/** The dictionaries with the texts of all facets of the row. Throws LimitExceeded where one is full. */
export function withTextsOfRow(list: ListDescription, row: Row, dictionaries: Dictionaries): Dictionaries {
  return Object.values(list.columns).reduce(
    (learned, column) => (column.kind === 'facets' ? withTextsOf(column, row, learned) : learned),
    dictionaries,
  );
}
