import type { TableName } from '../../tables.ts';
import type { Db } from './db.ts';
import { keptWith } from './kept-with.ts';

/** How long a process keeps what anyone may ask for as often as they like, with no token. */
const secondsKept = 10;

interface KeptRead<Value> {
  readonly until: number;
  readonly value: Promise<Value>;
}

/**
 * A read that a process makes at most once in 10 s for a database and a name: its answer may be
 * 10 s old. A read that failed is made again.
 */
export function keptRead<Used extends TableName, Value>(
  read: (db: Db<Used>, name: string) => Promise<Value>,
): (db: Db<Used>, name: string) => Promise<Value> {
  const readsOf = keptWith(() => new Map<string, KeptRead<Value>>());
  return (db, name) => {
    const kept = readsOf(db);
    const now = db.clock.now();
    // The oldest come first. Users may name any device.
    for (const [each, { until }] of kept) {
      if (until > now) break;
      kept.delete(each);
    }
    const known = kept.get(name);
    if (known !== undefined) return known.value;
    const value = read(db, name);
    const entry = { until: now + secondsKept * 1_000, value };
    kept.set(name, entry);
    value.catch(() => kept.get(name) === entry && kept.delete(name));
    return value;
  };
}
