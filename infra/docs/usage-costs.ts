/** What the service costs in normal use: quantities of what AWS bills, at list prices. */

import { otherFunctions } from '../../functions/other-functions.ts';
import { queues } from '../../functions/queues.ts';
import type { FunctionDescription } from '../../functions/rights.ts';
import { routes } from '../../functions/routes.ts';
import { type TableDescription, tables } from '../../functions/tables.ts';
import { alarms } from '../stack/alarms.ts';
import { tracedShare } from '../stack/sampling.ts';
import { type CallFigure, type Figures, type ListFigure, markdownTable } from './performance.ts';

type Part = 'database' | 'calls' | 'functions' | 'queues' | 'results' | 'logs, traces' | 'fixed';

/** List prices of us-east-1 in November 2026, in dollars, without what is free. */
const prices = {
  writeUnits: { dollars: 0.625, per: 1e6, part: 'database', name: 'DynamoDB, write units', page: 'dynamodb' },
  readUnits: { dollars: 0.125, per: 1e6, part: 'database', name: 'DynamoDB, read units', page: 'dynamodb' },
  requests: { dollars: 3.5, per: 1e6, part: 'calls', name: 'REST API, requests', page: 'api-gateway' },
  sentGigabytes: { dollars: 0.09, per: 1, part: 'calls', name: 'GB sent to the Internet', page: 'ec2' },
  invocations: { dollars: 0.2, per: 1e6, part: 'functions', name: 'Lambda, calls', page: 'lambda' },
  gigabyteSeconds: {
    dollars: 13.3334,
    per: 1e6,
    part: 'functions',
    name: 'Lambda, GB-seconds on arm64',
    page: 'lambda',
  },
  messages: { dollars: 0.5, per: 1e6, part: 'queues', name: 'SQS, calls (FIFO)', page: 'sqs' },
  uploads: { dollars: 5, per: 1e6, part: 'results', name: 'S3, PUT', page: 's3' },
  downloads: { dollars: 0.4, per: 1e6, part: 'results', name: 'S3, GET', page: 's3' },
  logGigabytes: { dollars: 0.5, per: 1, part: 'logs, traces', name: 'CloudWatch, GB of logs', page: 'cloudwatch' },
  traces: { dollars: 5, per: 1e6, part: 'logs, traces', name: 'X-Ray, traces', page: 'xray' },
  metrics: { dollars: 0.3, per: 1, part: 'fixed', name: 'a metric of our own, a month', page: 'cloudwatch' },
  alarmMetrics: { dollars: 0.1, per: 1, part: 'fixed', name: 'a metric of an alarm, a month', page: 'cloudwatch' },
  keys: { dollars: 1, per: 1, part: 'fixed', name: 'KMS, a key, a month', page: 'kms' },
  secretReads: { dollars: 0.05, per: 1e4, part: 'functions', name: 'Secrets Manager, calls', page: 'secrets-manager' },
  secrets: { dollars: 0.4, per: 1, part: 'fixed', name: 'a secret, a month', page: 'secrets-manager' },
  clients: { dollars: 6, per: 1, part: 'fixed', name: 'Cognito, a client for machines, a month', page: 'cognito' },
  tokens: { dollars: 2.25, per: 1_000, part: 'fixed', name: 'Cognito, tokens for machines', page: 'cognito' },
} as const satisfies Record<string, { dollars: number; per: number; part: Part; name: string; page: string }>;

/** Dollars for one. */
export function priceOf(name: keyof typeof prices): number {
  return prices[name].dollars / prices[name].per;
}

type Quantities = Partial<Record<keyof typeof prices, number>>;
type Units = Pick<CallFigure, 'readUnits' | 'writeUnits' | 'depth'>;
type Calls = readonly [count: number, units: Units];

const million = 1e6;
const monthSeconds = 30 * 24 * 3600;

/** Memory of functions: of machines' calls, of the consumer of changes, and of the others. */
const gigabytesOf = ({ memoryMegabytes = 1_024 }: FunctionDescription) => memoryMegabytes / 1_024;
export const gigabytesOfMachines = gigabytesOf(routes.reportJob);
const gigabytesOfFolds = gigabytesOf(otherFunctions.sealSegments);

const readSeconds = 0.01;

/**
 * A model: reads and writes one after the other take 10 ms each. The rest of a call is the
 * processor's: 20 ms with a gigabyte, longer with less, since Lambda gives it in proportion.
 */
export function functionSeconds({ depth }: Pick<Units, 'depth'>, gigabytes = 1): number {
  return 0.02 / gigabytes + readSeconds * depth;
}

/** Bytes that a call logs. */
export const logged = {
  /** The function and Lambda. */
  byFunction: 1_300,
  /** The function's own line, of these. */
  inLine: 400,
  byGateway: 700,
};

/**
 * A call of S3 that a function waits for. AWS names 100 to 200 ms for small objects
 * (https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html).
 */
const s3Seconds = 0.1;

/** Of calls of one function, without traces. */
function invocations(count: number, units: Units, gigabytes = 1): Quantities {
  return {
    invocations: count,
    gigabyteSeconds: count * gigabytes * functionSeconds(units, gigabytes),
    readUnits: count * units.readUnits,
    writeUnits: count * units.writeUnits,
    logGigabytes: (count * logged.byFunction) / 1e9,
  };
}

function calls(count: number, units: Units, gigabytes = 1): Quantities {
  return add(invocations(count, units, gigabytes), {
    requests: count,
    sentGigabytes: count * 2e-6,
    traces: count * tracedShare,
    logGigabytes: (count * logged.byGateway) / 1e9,
  });
}

const machineCalls = (count: number, units: Units) => calls(count, units, gigabytesOfMachines);

/** Calls that workers send all the time: their lines are DEBUG. */
function quietCalls(count: number, units: Units): Quantities {
  return add(machineCalls(count, units), { logGigabytes: (-count * logged.inLine) / 1e9 });
}

/** Calls by queues, streams and the clock: X-Ray records none of them. */
function background(...all: readonly Calls[]): Quantities {
  return add(...all.map((each) => invocations(...each)));
}

function add(...all: readonly Quantities[]): Quantities {
  const sums: Quantities = {};
  for (const each of all) {
    for (const [name, count] of Object.entries(each) as [keyof Quantities, number][]) {
      sums[name] = (sums[name] ?? 0) + count;
    }
  }
  return sums;
}

/**
 * Metrics that alarms watch: a sum over a table and its indexes has two for each of them, the age
 * of a queue and the share of slow calls two, that of environments three, throttles four.
 */
export function countAlarmMetrics(): number {
  const indexes = Object.values<TableDescription>(tables).map((table) => Object.keys(table.indexes).length);
  const further = indexes.reduce((sum, count) => sum + 1 + 2 * count, 0) + Object.keys(queues).length + 1 + 2 + 3;
  return Object.keys(alarms).length + further;
}

/** Lambda asks each queue from five places, each time for 20 s. */
const pollsAMonth = Object.keys(queues).length * 5 * (monthSeconds / 20);
/** While webhooks are sent, each of as many environments reads two keys a minute. */
const keyReadsAMonth = queues.Webhooks.consumer.concurrency * 2 * (monthSeconds / 60);
const minutesAMonth = monthSeconds / 60;
const jobsOfBatch = 4;

function find<Figure extends { readonly name: string }>(of: readonly Figure[] | undefined, name: string): Figure {
  const found = of?.find((figure) => figure.name === name);
  if (found === undefined) throw new Error(`docs/reference/performance.json has no figure "${name}".`);
  return found;
}

const byMachines = 'a million batches of 4 jobs, by users and machines';
const byBusyUsers = 'the same, of users who have 16 newer jobs by then';

/** The calls that cost more where their user's newest 16 jobs are others: how many, and which. */
const callsOfBusyUsers = [
  [million, 'claim, 1 batch waits', 'claim, of older jobs'],
  [million * (jobsOfBatch - 1), 'report, and the next job', 'report of an older job, and the next job'],
  [million, 'report of the last job', 'report of an older job, the last of its batch'],
] as const;

/**
 * What the changes of a batch's rows bring the consumer that folds them: a look at both lists, when
 * the batch starts, and its share of folds of the fewest rows.
 */
function folding(figures: Figures): Quantities {
  const device = (name: string) => find(figures.devices, name);
  const look = device('look at changes, too few to be folded');
  const shares = [
    [jobsOfBatch / 24, device('fold of 24 older jobs, of 6 batches')],
    [1 / 24, device('fold of 24 older batches')],
  ] as const;
  const folds = shares.map(([share, { readUnits, writeUnits }]) => ({
    readUnits: million * share * readUnits,
    writeUnits: million * share * writeUnits,
  }));
  const looks = { readUnits: 2 * look.readUnits, writeUnits: 0, depth: 2 * look.depth };
  return add(invocations(million, looks, gigabytesOfFolds), ...folds);
}

/** Quantities by what they are for, from the figures of docs/reference/performance.json. */
function scenarios(figures: Figures): Readonly<Record<string, Quantities>> {
  const device = (name: string) => find(figures.devices, name);
  const more = callsOfBusyUsers.flatMap(([count, usual, busy]) => [
    invocations(count, device(busy), gigabytesOfMachines),
    invocations(-count, device(usual), gigabytesOfMachines),
  ]);
  const all = Object.entries(usualScenarios(figures)).flatMap(([name, quantities]) => {
    const busy = [byBusyUsers, add(quantities, ...more)] as const;
    return name === byMachines ? [[name, quantities] as const, busy] : [[name, quantities] as const];
  });
  return Object.fromEntries(all);
}

function usualScenarios(figures: Figures): Readonly<Record<string, Quantities>> {
  const device = (name: string) => find(figures.devices, name);
  const event = (name: string) => find(figures.events, name);
  const endpoint = (name: string) => find(figures.endpoints, name);
  const lists: readonly ListFigure[] = figures.lists?.['10000'] ?? [];
  const listed = (units: ListFigure) => add(calls(million, { ...units, writeUnits: 0 }), { sentGigabytes: 10 });
  const onePage = lists.filter(({ calls }) => calls < 100).sort((a, b) => a.readUnits - b.readUnits);
  // Each is noted every 30 s, with others and by its name.
  const notes = { writeUnits: (2 * monthSeconds) / 30 };
  const idle = (pause: number) => add(quietCalls(monthSeconds / pause, device('claim, nothing there')), notes);
  const events = (...all: readonly Calls[]) =>
    add(background(...all), { messages: 3 * all.reduce((sum, [count]) => sum + count, 0) });
  const jobs = million * jobsOfBatch;
  return {
    'at rest, a month': add(
      { clients: 1, tokens: 60, keys: 1, secrets: 1, metrics: 1, alarmMetrics: countAlarmMetrics() },
      { messages: pollsAMonth },
      background([2 * minutesAMonth, { readUnits: 1, writeUnits: 0, depth: 2 }]),
    ),
    'a device, a month, measured every minute': {
      ...{ readUnits: minutesAMonth, writeUnits: minutesAMonth, gigabyteSeconds: 0.03 * minutesAMonth },
      logGigabytes: (minutesAMonth * logged.byFunction) / 1e9,
    },
    'a worker that waits, a month, asking every 20 s': idle(20),
    'the same, asking every 3 s': idle(3),
    'a million lists, the cheapest of 100 rows': listed(find(lists, 'unfiltered, first page')),
    'a million lists, the most expensive': listed(onePage.at(-1)!),
    'a million batches of 4 jobs, by events': add(
      events(
        [million, event('batch with 4 jobs')],
        [million, event('status and start of one of the newest 16 batch')],
        [2 * jobs, event('status and start of one of the newest 16 job')],
      ),
      // An end also counts how long its device was busy.
      { writeUnits: jobs },
      folding(figures),
    ),
    [byMachines]: add(
      calls(million, endpoint('createBatch, 4 jobs')),
      machineCalls(million, device('claim, 1 batch waits')),
      machineCalls(jobs - million, device('report, and the next job')),
      machineCalls(million, device('report of the last job')),
      calls(million, endpoint('getFullResults, 3 jobs')),
      // Results come with the reports, and are stored beside a read. The full results are read side
      // by side.
      { uploads: jobs, downloads: jobs },
      { gigabyteSeconds: jobs * gigabytesOfMachines * (s3Seconds - readSeconds) + million * s3Seconds },
      folding(figures),
    ),
    'a million heartbeats, one for every 20 s of a job': quietCalls(million, device('heartbeat')),
    // The report then asks S3 whether there is an object.
    'a million links, for results above 1 MB': add(quietCalls(million, device('link for an upload')), {
      downloads: million,
    }),
    'ten million statuses': calls(10 * million, endpoint('getBatchStatus')),
    'a million webhooks, each alone in its call, answered within 200 ms': add(
      background(
        // What was sent is counted for user and host, and shown to the user with nine others: 3 KB.
        [million, { readUnits: 1, writeUnits: 5, depth: 20 }],
        [million, { readUnits: 1, writeUnits: 0, depth: 1 }],
      ),
      { secretReads: keyReadsAMonth },
      { messages: 3 * million, downloads: million },
    ),
  };
}

function dollarsOf(quantities: Quantities, part?: Part): number {
  return Object.entries(quantities).reduce((sum, [name, count]) => {
    const key = name as keyof Quantities;
    return part === undefined || prices[key].part === part ? sum + count * priceOf(key) : sum;
  }, 0);
}

const parts = [...new Set(Object.values(prices).map(({ part }) => part))];

/** What each scenario costs, in whole and by what it is for. */
export function costTable(figures: Figures): string {
  const rows = Object.entries(scenarios(figures)).map(([name, quantities]) => [
    name,
    dollarsOf(quantities),
    ...parts.map((part) => dollarsOf(quantities, part)),
  ]);
  return markdownTable(['$', 'in all', ...parts], rows);
}

/** The same in lines. */
export function costLines(figures: Figures): string {
  const dollars = (name: string) => Math.round(dollarsOf(scenarios(figures)[name]!));
  return [
    `- at rest ${dollars('at rest, a month')} a month, 6 of these for the machines' Cognito client; 1 more for each machine that waits;`,
    `- a million lists ${dollars('a million lists, the cheapest of 100 rows')} to ${dollars('a million lists, the most expensive')};`,
    `- a million batches of 4 jobs ${dollars('a million batches of 4 jobs, by events')} by events, ${dollars(byMachines)} by users and machines;`,
    `- a million webhooks at most ${dollars('a million webhooks, each alone in its call, answered within 200 ms')}.`,
  ].join('\n');
}

/** The prices, and where they are from. */
export function priceTable(): string {
  const rows = Object.values(prices).map(({ name, dollars, per, page }) => [
    name,
    String(dollars),
    per === 1 ? '' : `for ${per.toLocaleString('en')}`,
    `aws.amazon.com/${page}/pricing`,
  ]);
  return markdownTable(['', '$', '', 'source'], rows);
}
