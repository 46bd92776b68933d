import { markdownTable } from './performance.ts';

/** A folder, and what its files may import besides each other. */
export interface Room {
  readonly path: string;
  readonly holds: string;
  /** Other rooms, or single files of them. */
  readonly imports: readonly string[];
  /** Packages by the start of their names; without it any that package.json names. */
  readonly packages?: readonly string[];
}

const data = 'functions/data';
const page = 'functions/console';

/** By path. */
const facts: Readonly<Record<string, Omit<Room, 'path'>>> = {
  functions: {
    holds:
      'What runs in Lambda. Here: the fact sheets `routes.ts`, `tables.ts`, `queues.ts`, `statuses.ts`, `limits.ts`, and what all rooms share',
    imports: [data, `${data}/dynamodb`, 'functions/identity', 'functions/webhooks'],
    packages: ['aws-lambda'],
  },
  'functions/endpoints': {
    holds: 'A folder for each resource; beside each endpoint its `.operation.ts`',
    imports: ['functions', 'functions/http', 'functions/schemas', data, `${data}/dynamodb`],
    packages: ['zod'],
  },
  'functions/consumers': {
    holds: 'What queues and streams bring',
    imports: ['functions', 'functions/schemas', 'functions/webhooks', data, `${data}/dynamodb`, `${data}/lifecycle`],
    packages: ['zod', 'aws-lambda'],
  },
  'functions/schedules': {
    holds: 'What the clock calls',
    imports: ['functions', data, `${data}/dynamodb`],
    packages: ['aws-lambda'],
  },
  'functions/http': {
    holds: 'Request to input, result to response, anything thrown to an error body',
    imports: ['functions', 'functions/schemas'],
    packages: ['zod', 'aws-lambda', '@middy/core'],
  },
  [page]: {
    holds: 'The console: what runs in browsers, and calls the public API only. Here: the frame around its views',
    imports: [`${page}/client`, `${page}/ui`, `${page}/views`],
    packages: ['preact'],
  },
  [`${page}/views`]: {
    holds: 'A view for each address, and what only that view knows',
    imports: [
      ...['client', 'ui', 'drawing', 'parts'].map((room) => `${page}/${room}`),
      ...[
        'functions/device-modes.ts',
        'functions/limits.ts',
        'functions/statuses.ts',
        'functions/pulser',
        'functions/schemas',
      ],
    ],
    packages: ['preact'],
  },
  [`${page}/parts`]: {
    holds: 'Results, usage and limits, as several views show them',
    imports: [`${page}/client`, `${page}/ui`, 'functions/limits.ts', 'functions/schemas'],
    packages: ['preact'],
  },
  [`${page}/drawing`]: {
    holds: 'A sequence as a picture: its qubits, and its pulses against time',
    imports: [`${page}/ui`, 'functions/pulser'],
    packages: ['preact'],
  },
  [`${page}/ui`]: {
    holds: 'What all views are made of: addresses, texts, formats, tables, forms',
    imports: [`${page}/client`, 'functions/device-modes.ts', 'functions/limits.ts'],
    packages: ['preact'],
  },
  [`${page}/client`]: {
    holds: "The public API's calls, and sign-in",
    imports: [],
    packages: ['preact'],
  },
  'functions/identity': {
    holds: "Tokens and the issuer's keys",
    imports: ['functions'],
    packages: [],
  },
  'functions/webhooks': {
    holds: 'Which receivers may be called, signatures, attempts',
    imports: [],
    packages: [],
  },
  'functions/schemas': {
    holds: 'A file for each resource: validation, types and OpenAPI from one source',
    imports: ['functions'],
    packages: ['zod'],
  },
  'functions/sequences': {
    holds: "What a device would refuse of a sequence: rules, and Pulser's schemas",
    imports: ['functions', 'functions/pulser', 'functions/schemas'],
    packages: [],
  },
  'functions/pulser': {
    holds: 'What a sequence says, for the rules and for drawings: it runs in browsers, too',
    imports: [],
    packages: [],
  },
  [data]: {
    holds: 'Repositories: functions that take a client and only the tables that they use',
    imports: [
      ...['functions', 'functions/pulser', 'functions/schemas', 'functions/sequences', 'functions/webhooks'],
      ...['dynamodb', 'columns', 'lists', 'lifecycle', 'queue'].map((room) => `${data}/${room}`),
    ],
    packages: ['@aws-sdk/', '@smithy/', 'zod'],
  },
  [`${data}/dynamodb`]: {
    holds: "The client, the reads, the one retry loop, the one translation of DynamoDB's errors",
    imports: ['functions'],
    packages: ['@aws-sdk/', 'zod'],
  },
  [`${data}/columns`]: {
    holds: 'The stored format that lists are read from',
    imports: ['functions', 'functions/schemas', `${data}/dynamodb`],
    packages: ['@aws-sdk/', 'zod'],
  },
  [`${data}/lists`]: {
    holds: 'Query, plan, selection, reader',
    imports: ['functions', `${data}/columns`, `${data}/dynamodb`],
    packages: ['@aws-sdk/'],
  },
  [`${data}/queue`]: {
    holds: 'The queue of each device, and its order',
    imports: ['functions', 'functions/schemas', `${data}/dynamodb`],
    packages: ['@aws-sdk/', 'zod'],
  },
  [`${data}/lifecycle`]: {
    holds: 'Every change of batches and jobs, in conditional transactions',
    imports: [...['functions', 'functions/schemas', data], ...[`${data}/columns`, `${data}/dynamodb`, `${data}/queue`]],
    packages: ['@aws-sdk/'],
  },
  infra: { holds: 'The CDK app, and what runs every command', imports: ['infra/stack', 'infra/commands'] },
  'infra/stack': { holds: 'The CDK stack, one construct a file', imports: ['functions'] },
  'infra/commands': {
    holds: 'What commands share: options, problems that a person must put right, files, the AWS CLI',
    imports: [],
    packages: [],
  },
  'infra/local': {
    holds: 'The same stack on one machine, read from the synthesized template',
    imports: ['infra/commands', 'functions/http', 'functions/schemas/values.ts', 'functions/values/results-key.ts'],
    packages: ['@aws-sdk/', '@smithy/', 'aws-lambda', 'jose'],
  },
  'infra/repair': {
    holds: '`npm run repair`',
    imports: [
      ...['infra/commands', 'functions', 'functions/schemas', `${data}/seal-segments.ts`, `${data}/columns`],
      ...[`${data}/used-of-limits.ts`, `${data}/dynamodb`, `${data}/lifecycle`, `${data}/queue`],
    ],
  },
  'infra/restore': { holds: '`npm run restore`', imports: ['infra/commands', 'infra/stack/storage.ts', 'functions'] },
  'infra/user-data': {
    holds: '`npm run erase`, `npm run export`',
    imports: [
      ...[
        'infra/commands',
        'infra/stack/stages.ts',
        'infra/local/iam/principals.ts',
        'infra/repair/scan-users.ts',
        'functions',
        'functions/schemas',
      ],
      ...[`${data}/erase-results.ts`, `${data}/limits.ts`, `${data}/dynamodb`, `${data}/lifecycle`],
    ],
  },
  'infra/openapi': {
    holds: '`npm run openapi`',
    imports: ['functions', 'functions/endpoints', 'functions/http', 'functions/schemas'],
  },
  'infra/docs': {
    holds: '`npm run docs`',
    imports: ['infra/stack', 'functions', 'functions/sequences'],
  },
  'infra/smoke': { holds: '`npm run smoke`', imports: ['infra/commands', 'infra/openapi', 'functions'] },
};

/** A file belongs to the room with the longest path. Files of test/ may import everything. */
export const rooms: readonly Room[] = Object.entries(facts).map(([path, fact]) => ({ path, ...fact }));

export function roomTable(): string {
  const short = (path: string) => `\`${path.replace(/^functions\/(?=.)/, '')}${path.endsWith('.ts') ? '' : '/'}\``;
  const rows = rooms.map(({ path, holds, imports }) => [
    `\`${path}/\``,
    holds,
    imports.map(short).join(' ') || 'nothing else',
  ]);
  return markdownTable(['room', 'holds', 'may import'], rows);
}
