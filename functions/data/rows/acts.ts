/**
 * The trail of what operators and administrators did: for each act one row, written in the act's
 * own transaction.
 */

import { randomUUID } from 'node:crypto';
import { InvalidInput } from '../../errors.ts';
import { Act, type AuditQuery, type NewAct } from '../../schemas/audit.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import type { Page } from '../../values/page.ts';
import { earlierOf, fromMilliseconds, laterOf, monthsOf, toMicroseconds } from '../../values/timestamp.ts';
import { ifAbsent } from '../dynamodb/conditions.ts';
import type { Db } from '../dynamodb/db.ts';
import { queryFirstPage } from '../dynamodb/reads.ts';
import type { Write } from '../dynamodb/write-units.ts';
import { namesOf } from '../projects/names.ts';

/** Rows are deleted some time after this. */
const keptSeconds = 400 * 24 * 3600;

/**
 * The write of an act's row, for the transaction that makes the act: 2 write units for each KB. No
 * function may change or delete a row.
 */
export function auditWrite({ tables }: Db<'Audit'>, { operator_name, ...act }: NewAct): Write {
  const expires_at = Math.floor(toMicroseconds(act.at) / 1_000_000) + keptSeconds;
  return {
    Put: {
      TableName: tables.Audit,
      Item: {
        ...{ month: act.at.slice(0, 7), key: `${act.at}#${randomUUID()}` },
        ...act,
        ...(typeof operator_name === 'string' && { operator_name }),
        expires_at,
      },
      ...ifAbsent('key'),
    },
  };
}

/** Full pages of 1 MB that a list reads at most: some 10,000 acts or more. */
const maxFullPages = 10;

/**
 * Lists the acts that match, newest first, from `offset` on, and their total. It reads all acts of
 * the requested time, strongly consistent: 1 read unit for each 4 KB, and one for each month. What
 * the users of the page are called costs what namesOf takes. Throws InvalidInput when the acts are
 * more than 10 MB.
 */
export async function listAudit(db: Db<'Audit' | 'Columns' | 'Contributors'>, query: AuditQuery): Promise<Page<Act>> {
  const { from = '', to, limit, offset, ...filters } = query;
  const now = db.clock.now();
  const first = laterOf(fromMilliseconds(now - keptSeconds * 1_000), from);
  // An act has the time of its call, and is stored a little later.
  const end = fromMilliseconds(now + 60_000);
  const found = await readActs(db, first, to === undefined ? end : earlierOf(to, end));
  const matching = found.filter((act) => matches(act, filters)).reverse();
  const page = matching.slice(offset, offset + limit);
  const names = await namesOf(
    db,
    page.flatMap(({ target }) => target.user_id ?? []),
  );
  const items = page.map((act) => {
    const user_name = names.get(act.target.user_id ?? '');
    return user_name === undefined ? act : { ...act, target: { ...act.target, user_name } };
  });
  return { items, total: matching.length };
}

/** The acts between two times, both inclusive, in their order. */
async function readActs(db: Db<'Audit'>, first: string, last: string): Promise<Act[]> {
  const found: Act[] = [];
  let fullPages = 0;
  for (const month of first > last ? [] : monthsOf(first, last)) {
    for (let start: string | undefined = first; start !== undefined; ) {
      const page: Awaited<ReturnType<typeof queryFirstPage>> = await queryFirstPage(db, {
        table: 'Audit',
        partition: { month },
        sortKey: 'key',
        range: { between: [start, `${last}~`] },
        consistent: true,
      });
      const { items, more } = page;
      for (const item of items) found.push(storedRow(Act, item));
      if (more && ++fullPages > maxFullPages) throw tooMuch();
      // No other key begins with this one.
      start = more ? `${items.at(-1)?.key}!` : undefined;
    }
  }
  return found;
}

type Filters = Pick<AuditQuery, 'operator' | 'action' | 'user_id' | 'project_id' | 'device_type'>;

function matches({ operator, action, target }: Act, filters: Filters): boolean {
  const { user_id, project_id, device_type } = target;
  const values = { operator, action, user_id, project_id, device_type };
  return Object.entries(filters).every(
    ([name, wanted]: [string, readonly (string | undefined)[] | undefined]) =>
      wanted === undefined || wanted.includes(values[name as keyof Filters]),
  );
}

function tooMuch(): InvalidInput {
  const msg = 'The acts from then on are more than 10 MB: ask for a shorter time';
  return new InvalidInput([{ loc: ['query', 'from'], msg, type: 'value_error' }]);
}
