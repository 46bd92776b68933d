/** What callers without a valid token, and with one, can make the operator pay. */

import { type Route, routes } from '../../functions/routes.ts';
import { type TableDescription, tables } from '../../functions/tables.ts';
import { alarmingCallsPerSecond } from '../stack/alarms.ts';
import { tracedShare } from '../stack/sampling.ts';
import { rateClass, type StageName, type StageSettings, stages } from '../stack/stages.ts';
import { maxCallsPerSecond, maxEnvironments, maxUnitsPerSecond } from './ceilings.ts';
import { markdownTable } from './performance.ts';
import { logged, priceOf } from './usage-costs.ts';

/** Calls of one kind, which anyone can make. */
interface OpenCalls {
  readonly what: string;
  readonly perSecond: number;
  readonly dollars: number;
}

/** Dollars. API Gateway does not charge for refused tokens. */
const prices = {
  call: priceOf('requests'),
  logged: priceOf('logGigabytes') / 1e9,
  sent: priceOf('sentGigabytes') / 1e9,
  readUnit: priceOf('readUnits'),
};
/** The call, what is logged, a share of a trace, 1 GB for its time. */
const callOf = (milliseconds: number) =>
  priceOf('invocations') +
  logged.byFunction * prices.logged +
  tracedShare * priceOf('traces') +
  (milliseconds / 1000) * priceOf('gigabyteSeconds');
const functionCall = callOf(20);
const authorizerCall = callOf(5);
const accessLogLine = logged.byGateway * prices.logged;

/** Bytes of the largest answers; specifications are of 10 devices with 8 KB each. */
const sent: Readonly<Record<string, number>> = {
  getConsole: 20_000,
  getDocs: 460_000,
  getOpenApi: 190_000,
  listPublicSpecifications: 80_000,
};
/** Read units of 10 devices with 8 KB each. */
const readUnits: Readonly<Record<string, number>> = { listDevices: 10, listPublicSpecifications: 10 };

function openCalls({ throttle }: StageSettings): OpenCalls[] {
  const all = Object.entries<Route>(routes);
  const paths = new Set(all.map(([, { path }]) => path)).size;
  const called = prices.call + accessLogLine;
  const pages = all.flatMap(([name, route]) => {
    if (route.public !== true) return [];
    const dollars =
      called + functionCall + (sent[name] ?? 1_000) * prices.sent + (readUnits[name] ?? 0) * prices.readUnit;
    return [{ what: `\`GET ${route.path}\``, perSecond: throttle[rateClass(route)], dollars }];
  });
  const ofTokens = all.filter(([, route]) => route.public !== true);
  const guesses = ofTokens.reduce((sum, [, route]) => sum + throttle[rateClass(route)], 0);
  return [
    ...pages,
    { what: 'unknown paths and methods', perSecond: (paths + 2) * throttle.others, dollars: called + functionCall },
    { what: 'preflights', perSecond: paths * throttle.others, dollars: called },
    { what: 'tokens that look like a JWT', perSecond: guesses, dollars: accessLogLine + authorizerCall },
  ];
}

/** The most expensive calls first, until the account takes no more. */
function worst(calls: readonly OpenCalls[]): OpenCalls[] {
  let left = maxCallsPerSecond;
  return calls
    .toSorted((one, other) => other.dollars - one.dollars)
    .map((each) => {
      const perSecond = Math.min(each.perSecond, left);
      left -= perSecond;
      return { ...each, perSecond };
    });
}

const hourly = (calls: readonly OpenCalls[]) =>
  calls.reduce((sum, { perSecond, dollars }) => sum + perSecond * dollars * 3600, 0);
const total = (calls: readonly OpenCalls[]) => calls.reduce((sum, { perSecond }) => sum + perSecond, 0);

/** Calls a second and dollars an hour, of each kind and of all together. */
export function openCallTable(): string {
  const columns = (Object.keys(stages) as StageName[]).map((stage) => worst(openCalls(stages[stage])));
  const rows = columns[0]!.map(({ what }) => [
    what,
    ...columns.flatMap((calls) => {
      const each = calls.filter((one) => one.what === what);
      return [total(each), hourly(each)];
    }),
  ]);
  const headings = Object.keys(stages).flatMap((stage) => [`${stage}: calls a second`, '$ an hour']);
  const all = ['all together', ...columns.flatMap((calls) => [total(calls), hourly(calls)])];
  return markdownTable(['calls without a valid token', ...headings], [...rows, all]);
}

/** Dollars an hour of calls with a valid token, without what they move. */
const callsOfToken = (perSecond: number) => perSecond * (prices.call + accessLogLine + functionCall) * 3600;

/** Partitions that are a user's own: one of each table of owners, and of each of its indexes. */
const partitionsOfUser = Object.values<TableDescription>(tables)
  .filter(({ partition }) => partition === 'owner')
  .reduce((sum, { indexes }) => sum + 1 + Object.keys(indexes).length, 0);

/** The most that one token can cost, in dollars an hour by stage. */
export function tokenTable(): string {
  const all = Object.values(stages).map(({ throttle }: StageSettings) => {
    const ofTokens = Object.values<Route>(routes).filter((route) => route.public !== true);
    const perSecond = ofTokens.reduce((sum, route) => sum + throttle[rateClass(route)], 0);
    return callsOfToken(Math.min(perSecond, maxCallsPerSecond));
  });
  const { write, read } = maxUnitsPerSecond;
  const units = partitionsOfUser * (write * priceOf('writeUnits') + read * prices.readUnit) * 3600;
  const same = (what: string, dollars: number) => [what, ...all.map(() => dollars)];
  return markdownTable(
    ['calls with one valid token', ...Object.keys(stages).map((stage) => `${stage}: $ an hour`)],
    [
      ['as many as the rates allow, of 20 ms', ...all],
      same(
        `the account’s ${maxEnvironments.toLocaleString('en')} environments, always busy`,
        maxEnvironments * 3600 * priceOf('gigabyteSeconds'),
      ),
      same(`the ${partitionsOfUser} partitions of a user, written and read as fast as DynamoDB lets`, units),
      same('each Gbit a second of full results and downloads', (1e9 / 8) * 3600 * prices.sent),
      same(
        `${alarmingCallsPerSecond} calls a second, at which the alarm \`Calls\` goes off`,
        callsOfToken(alarmingCallsPerSecond),
      ),
    ],
  );
}
