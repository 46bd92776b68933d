import { groupUsage, readUsage, type UsageSpan } from '../../data/limits/read-usage.ts';
import { namesOf } from '../../data/projects/names.ts';
import { InsufficientScope, InvalidInput } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { fitsOneAnswer } from '../../http/reply.ts';
import { operatorScope } from '../../identity/operator-scope.ts';
import { routes } from '../../routes.ts';
import { administers } from '../../schemas/claims.ts';
import type { UsageQuery } from '../../schemas/usage.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { operation } from './list-usage.operation.ts';
import { csvReport, jsonReport, prefersCsv } from './usage-report.ts';

const columns = { project_id: 'projectId', user_id: 'userId', device_type: 'deviceType' } as const;

export const handler = endpoint(
  routes.listUsage,
  operation,
  async ({ db, userId, isOperator, claims, query, event }) => {
    const { period = 'day', group_by = [], project_id, scope = project_id === undefined ? 'own' : 'all' } = query;
    const { user_id = scope === 'all' ? undefined : userId } = query;
    const mayRead = user_id === userId || (project_id !== undefined && administers(claims, project_id));
    if (!mayRead && !isOperator) throw new InsufficientScope(operatorScope);
    const groups = [...new Set(group_by)];
    const read = await readUsage(db, user_id, spanOf(query, db.clock.now()));
    const usage = project_id === undefined ? read : read.filter(({ projectId }) => projectId === project_id);
    const length = period === 'day' ? 10 : 7;
    const rows = groupUsage(usage, (each) => [each.day.slice(0, length), ...groups.map((name) => each[columns[name]])]);
    const [total] = groupUsage(usage, () => []);
    const isNamed = (isOperator || project_id !== undefined) && groups.includes('user_id');
    const names = isNamed && (await namesOf(db, new Set(usage.map((each) => each.userId))));
    const report = { groups, rows, ...(names && { names }) };
    const reply = prefersCsv(event) ? csvReport(report) : jsonReport(report, total?.amounts);
    if (!fitsOneAnswer(reply))
      throw refusal(
        'to',
        'report_too_large',
        'The report is larger than a response may be: ask for fewer days or groups',
      );
    return { ...reply, headers: { ...reply.headers, Vary: 'Accept' } };
  },
);

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
