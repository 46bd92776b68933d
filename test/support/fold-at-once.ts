import type { ListDescription } from '../../functions/data/columns/list-description.ts';
import type { Db } from '../../functions/data/dynamodb/db.ts';
import { foldChanges } from '../../functions/data/lists/fold-changes.ts';

/** The consumer's clock: each time it is called, what it has folded before may go. */
let time = Date.parse('2026-06-01T00:00:00Z');

/** Folds an owner's changes, however few they are. Returns the number of rows. */
export function foldAtOnce(
  db: Db<'Columns'>,
  of: { readonly userId: string; readonly list: ListDescription },
): Promise<number> {
  time += 60_000;
  let now = time;
  // It never waits.
  const sleep = async (milliseconds: number) => {
    now += milliseconds;
  };
  return foldChanges({ ...db, clock: { ...db.clock, now: () => now, sleep } }, of, 1);
}
