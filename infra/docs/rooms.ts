/** The rooms of the house, and the floors that follow from what they import. */

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { markdownTable } from './performance.ts';

/** What a folder holds, and the packages that it may import, by the start of their names. */
interface Room {
  readonly holds: string;
  /** Without it any that package.json names. */
  readonly packages?: readonly string[];
}

const page = 'functions/console';
const data = 'functions/data';

/** By path. A file belongs to the room with the longest one. */
export const rooms: Readonly<Record<string, Room>> = {
  functions: {
    holds:
      'What runs in Lambda. Here only the fact sheets (`routes.ts`, `tables.ts`, `queues.ts`, `statuses.ts`, `limits.ts`, `device-modes.ts`, `time-limits.ts` …) and errors',
    packages: [],
  },
  'functions/values': { holds: 'Times, ids, JSON text, pages, keys of results', packages: [] },
  'functions/runtime': { holds: 'Clock, environment, log line, end of the request', packages: [] },
  'functions/schemas': {
    holds: 'A file for each resource: validation, types and OpenAPI from one source; stored rows',
    packages: ['zod'],
  },
  'functions/identity': {
    holds: "Tokens, scopes, the issuer's keys, the authorizer",
    packages: ['aws-lambda'],
  },
  'functions/webhooks': { holds: 'Which receivers may be called, signatures, attempts', packages: [] },
  'functions/pulser': {
    holds: 'What a sequence says, for the rules and for drawings: it runs in browsers, too',
    packages: [],
  },
  'functions/sequences': {
    holds: "What a device would refuse of a sequence: rules, and Pulser's schemas",
    packages: [],
  },
  [`${page}/fonts`]: { holds: 'The typeface: a part of Inter, how it was made, its license', packages: [] },
  [`${page}/styles`]: { holds: 'How it looks: tokens first, then what all views share', packages: [] },
  [`${page}/client`]: { holds: "The public API's calls, and sign-in", packages: ['preact'] },
  [`${page}/ui`]: {
    holds: 'What all views are made of: addresses, texts, formats, tables, forms',
    packages: ['preact'],
  },
  [`${page}/drawing`]: {
    holds: 'A sequence as a picture: its qubits, and its pulses against time',
    packages: ['preact'],
  },
  [`${page}/parts`]: { holds: 'Counts, projects, usage and limits, as several views show them', packages: ['preact'] },
  [`${page}/job`]: {
    holds: 'One job: its figure, its counts as a table, its neighbors in the batch',
    packages: ['preact'],
  },
  [`${page}/sweep`]: {
    holds: 'The jobs of a batch as a sweep: their variables, curves, maps and files',
    packages: ['preact'],
  },
  [`${page}/entry`]: {
    holds: 'A program and its jobs, before they are sent: the table, the check, the drawing',
    packages: ['preact'],
  },
  [`${page}/views`]: { holds: 'A view for each address, and what only that view knows', packages: ['preact'] },
  [page]: {
    holds: 'The console: what runs in browsers, and calls the public API only. Here: the frame around its views',
    packages: ['preact'],
  },
  [`${data}/aws`]: { holds: 'The results bucket, queues, Secrets Manager', packages: ['@aws-sdk/', '@smithy/'] },
  [`${data}/columns`]: { holds: 'The stored format that lists are read from', packages: ['zod'] },
  [`${data}/dynamodb`]: {
    holds: "The database of a function (`db.ts`), reads, the one retry loop, the one translation of DynamoDB's errors",
    packages: ['@aws-sdk/', 'zod'],
  },
  [`${data}/lists`]: { holds: 'Query, plan, selection, reader; sealing', packages: ['@aws-sdk/'] },
  [`${data}/projects`]: {
    holds: 'Who may see and do what with rows of others; who has batches in a project',
    packages: ['zod'],
  },
  [`${data}/queue`]: { holds: 'The queue of each device, its order, its leases', packages: ['@aws-sdk/', 'zod'] },
  [`${data}/rows`]: {
    holds: 'Batches, jobs, devices, quizzes, acts: what is stored, and lists of it',
    packages: ['@aws-sdk/', 'zod'],
  },
  [`${data}/limits`]: { holds: 'Limits, what is used of them, usage', packages: ['@aws-sdk/', 'zod'] },
  [`${data}/webhooks`]: { holds: 'Keys, attempts, calls of receivers', packages: ['@aws-sdk/', 'zod'] },
  [`${data}/lifecycle`]: {
    holds: 'Every change of batches and jobs, in conditional transactions',
    packages: ['@aws-sdk/'],
  },
  [`${data}/batches`]: {
    holds: 'What users do with batches: create, read, cancel, run again, erase; recovery',
    packages: ['@aws-sdk/', 'zod'],
  },
  [`${data}/leases`]: { holds: 'What workers do: claim, report, keep and give up leases', packages: [] },
  [`${data}/operators`]: { holds: 'What operators do to devices and to batches of others', packages: [] },
  'functions/http': {
    holds: 'Request to input, result to response, anything thrown to an error body',
    packages: ['zod', 'aws-lambda', '@middy/core'],
  },
  'functions/endpoints': {
    holds: 'A folder for each resource; beside each endpoint its `.operation.ts`',
    packages: ['zod'],
  },
  'functions/consumers': { holds: 'What queues and streams bring', packages: ['zod', 'aws-lambda'] },
  'functions/schedules': { holds: 'What the clock calls', packages: ['aws-lambda'] },
  'infra/commands': {
    holds: 'What commands share: options, problems that a person must put right, files, the AWS CLI',
    packages: [],
  },
  'infra/stack': { holds: 'The CDK stack, one construct a file' },
  infra: { holds: 'The CDK app, and what runs every command' },
  'infra/local': {
    holds: 'The same stack on one machine, read from the synthesized template: a program with floors of its own',
    packages: ['@aws-sdk/', '@smithy/', 'aws-lambda', 'jose'],
  },
  'infra/repair': { holds: '`npm run repair`' },
  'infra/deploy': { holds: '`npm run deploy`', packages: [] },
  'infra/restore': { holds: '`npm run restore`' },
  'infra/user-data': { holds: '`npm run erase`, `npm run export`' },
  'infra/openapi': { holds: '`npm run openapi`' },
  'infra/docs': { holds: '`npm run docs`' },
  'infra/smoke': { holds: '`npm run smoke`' },
  'infra/acceptance': { holds: '`npm run accept`' },
};

/** A file imports another one of the project, or a package by its name. */
export interface Import {
  readonly file: string;
  readonly imported: string;
  readonly isPackage: boolean;
}

const specifier = / from '([^']+)'(?: with \{.*\})?;$|^import '([^']+)';$|\bimport\('([^']+)'\)/gm;

/** What a text imports that is the content of this file. */
export function importsOf(file: string, text: string): Import[] {
  return Array.from(text.matchAll(specifier), ([, from, alone, dynamic]) => {
    const name = from ?? alone ?? dynamic ?? '';
    const isPackage = !name.startsWith('.');
    return { file, imported: isPackage ? name : normalize(join(dirname(file), name)), isPackage };
  });
}

/** All imports of functions/ and infra/. */
export function allImports(): Import[] {
  const files = globSync(['functions/**/*.{ts,tsx}', 'infra/**/*.ts']).sort();
  return files.flatMap((file) => importsOf(file, readFileSync(file, 'utf8')));
}

export function roomOf(file: string): string {
  const paths = Object.keys(rooms).filter((path) => file.startsWith(`${path}/`));
  return paths.reduce((longest, path) => (path.length > longest.length ? path : longest), '');
}

/**
 * Places by floors, from the ground up: each imports only places on floors below. `left` are places
 * without a floor: they reach each other, or are above such places.
 */
export function floorsOf(
  imports: readonly Import[],
  placeOf: (file: string) => string,
): { readonly floors: readonly (readonly string[])[]; readonly left: readonly string[] } {
  const own = imports.filter(({ isPackage, imported }) => !isPackage && placeOf(imported) !== '');
  const pairs = own.map(({ file, imported }) => [placeOf(file), placeOf(imported)] as const);
  const left = new Set(pairs.flat());
  const floors: string[][] = [];
  for (;;) {
    const bound = new Set(
      pairs.filter(([from, to]) => from !== to && left.has(from) && left.has(to)).map(([from]) => from),
    );
    const floor = [...left.difference(bound)];
    if (floor.length === 0) return { floors, left: [...left].sort() };
    floors.push(floor.sort());
    for (const place of floor) left.delete(place);
  }
}

/** From the roof down, as one would draw it. */
export function roomTable(): string {
  const { floors } = floorsOf(allImports(), roomOf);
  const rows = floors.flatMap((floor, number) =>
    floor.map((path) => [String(number), `\`${path}/\``, rooms[path]?.holds ?? '']),
  );
  return markdownTable(['floor', 'room', 'holds'], rows.reverse());
}
