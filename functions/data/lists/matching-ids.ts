import type { ListDescription } from '../columns/list-description.ts';
import type { Db } from '../dynamodb/db.ts';
import { dictionariesOf, openColumns, readSets } from './column-reads.ts';
import { createdRows } from './created-rows.ts';
import { matchingRows } from './matching-rows.ts';
import { readSpans } from './open-columns.ts';
import { columnsHead, ownerReads, type TablesOfList } from './owner-reads.ts';
import { planColumns } from './plan.ts';
import type { Condition } from './query.ts';
import { idsAt } from './row-reads.ts';
import { emptyRowSet, intersect, spanOf } from './row-set.ts';

/**
 * The ids of a user's rows that meet these conditions, all or the first, in creation order,
 * strongly consistent. One of the conditions names sets of few rows, such as the jobs of a batch:
 * columns are read only where these rows are.
 *
 * Read units: the head; 2 for each 4 KB of ids and of the columns that the conditions name, which
 * is about one for each 250 rows that were created together; for each bound of the time of creation
 * one, and 33 rows around it.
 */
export async function listMatchingIds<List extends ListDescription>(
  db: Db<TablesOfList<List>>,
  list: List,
  userId: string,
  { conditions, limit = Infinity }: { readonly conditions: readonly Condition[]; readonly limit?: number | undefined },
): Promise<string[]> {
  const reads = ownerReads(db, { list, userId, consistent: true });
  const { names } = planColumns(list, { conditions, order: { kind: 'creation' } });
  const [sets, head, within, dictionaries] = await Promise.all([
    readSets(reads, conditions),
    columnsHead(reads),
    createdRows(reads, conditions).then((created) => created?.exact),
    dictionariesOf(reads, names),
  ]);
  // A row that was created since the head was read is in the sets already.
  const rowCount = head.next_seq;
  const span = spanOf(intersect(sets) ?? emptyRowSet(0));
  if (span === undefined || span.from >= rowCount) return [];
  const read = [{ from: span.from, to: Math.min(span.to, rowCount - 1) }];
  const columns = await readSpans(openColumns(reads, names), head, read);
  const rows = matchingRows(list, conditions, { rowCount, read, within, dictionaries, sets, ...columns });
  return idsAt(reads, [...rows.subarray(0, limit)]);
}
