import { groupUsage, readUsage, type UsageSpan } from '../../data/limits/read-usage.ts';
import { InsufficientScope, InvalidInput } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { fitsOneAnswer } from '../../http/reply.ts';
import { operatorScope } from '../../identity/operator-scope.ts';
import { routes } from '../../routes.ts';
import type { UsageQuery } from '../../schemas/usage.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { operation } from './list-usage.operation.ts';
import { csvReport, jsonReport, prefersCsv } from './usage-report.ts';

const columns = { project_id: 'projectId', user_id: 'userId', device_type: 'deviceType' } as const;

export const handler = endpoint(routes.listUsage, operation, async ({ db, userId, isOperator, query, event }) => {
  const { period = 'day', group_by = [], scope, user_id = scope === 'all' ? undefined : userId } = query;
  if (user_id !== userId && !isOperator) throw new InsufficientScope(operatorScope);
  const groups = [...new Set(group_by)];
  const usage = await readUsage(db, user_id, spanOf(query, db.clock.now()));
  const length = period === 'day' ? 10 : 7;
  const rows = groupUsage(usage, (each) => [each.day.slice(0, length), ...groups.map((name) => each[columns[name]])]);
  const [total] = groupUsage(usage, () => []);
  const reply = prefersCsv(event) ? csvReport(groups, rows) : jsonReport(groups, rows, total?.amounts);
  if (!fitsOneAnswer(reply))
    throw refusal(
      'to',
      'report_too_large',
      'The report is larger than a response may be: ask for fewer days or groups',
    );
  return { ...reply, headers: { ...reply.headers, Vary: 'Accept' } };
});

const maxDays = 366;

function spanOf({ from, to }: UsageQuery, now: number): UsageSpan {
  const last = to ?? fromMilliseconds(now).slice(0, 10);
  const first = from ?? `${last.slice(0, 7)}-01`;
  if (first > last)
    throw refusal(
      to === undefined ? 'from' : 'to',
      'value_error',
      `Input should be a range: from ${first} to ${last} is none`,
    );
  const days = (Date.parse(last) - Date.parse(first)) / 86_400_000;
  if (days > maxDays) throw refusal('to', 'value_error', `Input should be at most ${maxDays} days after from`);
  return { from: first, to: last };
}

function refusal(parameter: keyof UsageQuery, type: string, msg: string): InvalidInput {
  return new InvalidInput([{ loc: ['query', parameter], msg, type }]);
}
