import type { Db } from '../dynamodb/db.ts';

/**
 * The tables that a change of rows may write. A change finds out on its way which of them it needs,
 * so every function that changes rows has the names of all. The function's `uses` say what it may
 * do with each: nothing with a table that it never reaches.
 */
export type LifecycleTable =
  | 'Batches'
  | 'Jobs'
  | 'Columns'
  | 'Sequences'
  | 'DeviceQueue'
  | 'Usage'
  | 'Counters'
  | 'Contributors';

export type LifecycleDb = Db<LifecycleTable>;
