/** The trail of what operators did: for each act one row, written in the act's own transaction. */

import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { InvalidInput } from '../../errors.ts';
import { Act, type AuditQuery } from '../../schemas/audit.ts';
import type { TableNames } from '../../tables.ts';
import type { Page } from '../../values/page.ts';
import { earlierOf, fromMilliseconds, laterOf, monthsOf, toMicroseconds } from '../../values/timestamp.ts';
import { queryFirstPage } from '../dynamodb/reads.ts';
import { storedRow } from '../dynamodb/stored-row.ts';
import type { Write } from '../dynamodb/write-units.ts';

/** Rows are deleted some time after this. */
const keptSeconds = 400 * 24 * 3600;

/**
 * The write of an act's row, for the transaction that makes the act: 2 write units for each KB. No
 * function may change or delete a row.
 */
export function auditWrite({ Audit }: TableNames<'Audit'>, act: Act): Write {
  const expires_at = Math.floor(toMicroseconds(act.at) / 1_000_000) + keptSeconds;
  return {
    Put: {
      TableName: Audit,
      Item: { month: act.at.slice(0, 7), key: `${act.at}#${randomUUID()}`, ...act, expires_at },
      ConditionExpression: 'attribute_not_exists(#key)',
      ExpressionAttributeNames: { '#key': 'key' },
    },
  };
}

/** A list reads at most so many full pages of 1 MB: some 10,000 acts or more. */
const maxFullPages = 10;

/**
 * The function that lists acts, newest first: those that match, from `offset` on, and how many
 * match in all. It reads all acts of the time that is asked for, strongly consistent: 1 read unit
 * for each 4 KB, and one for each month. Throws InvalidInput where they are more than 10 MB.
 */
export function listAudit(
  client: DynamoDBDocumentClient,
  { Audit: table }: TableNames<'Audit'>,
  now = Date.now,
): (query: AuditQuery) => Promise<Page<Act>> {
  return async ({ from = '', to, limit, offset, ...filters }) => {
    const first = laterOf(fromMilliseconds(now() - keptSeconds * 1_000), from);
    // An act has the time at which its call came, and is there a little later.
    const last = to === undefined ? fromMilliseconds(now() + 60_000) : earlierOf(to, fromMilliseconds(now() + 60_000));
    const found: Act[] = [];
    let fullPages = 0;
    for (const month of first > last ? [] : monthsOf(first, last)) {
      for (let start: string | undefined = first; start !== undefined; ) {
        const between = [start, `${last}~`] as const;
        const { items, more } = await queryFirstPage(client, {
          table,
          partition: { month },
          sortKey: 'key',
          range: { between },
          consistent: true,
        });
        for (const item of items) found.push(storedRow(Act, item));
        if (more && ++fullPages > maxFullPages) throw tooMuch();
        // No other key begins with this one.
        start = more ? `${items.at(-1)?.key}!` : undefined;
      }
    }
    const matching = found.filter((act) => matches(act, filters)).reverse();
    return { items: matching.slice(offset, offset + limit), total: matching.length };
  };
}

type Filters = Pick<AuditQuery, 'operator' | 'action' | 'user_id' | 'device_type'>;

function matches({ operator, action, target }: Act, filters: Filters): boolean {
  const values = { operator, action, user_id: target.user_id, device_type: target.device_type };
  return Object.entries(filters).every(
    ([name, wanted]: [string, readonly (string | undefined)[] | undefined]) =>
      wanted === undefined || wanted.includes(values[name as keyof Filters]),
  );
}

function tooMuch(): InvalidInput {
  const msg = 'The acts from then on are more than 10 MB: ask for a shorter time';
  return new InvalidInput([{ loc: ['query', 'from'], msg, type: 'value_error' }]);
}
