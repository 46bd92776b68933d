/** Drawings in Mermaid and a table, made from the fact sheets of functions/. */

import { otherFunctions } from '../../functions/other-functions.ts';
import { queues } from '../../functions/queues.ts';
import type { FunctionDescription } from '../../functions/rights.ts';
import { routes } from '../../functions/routes.ts';
import { batchStatuses, jobStatuses, type Stage } from '../../functions/statuses.ts';
import { type TableDescription, tables } from '../../functions/tables.ts';
import { markdownTable } from './performance.ts';

/** A node as Mermaid defines it: its name, then its shape and text. */
type Node = `${string}[${string}]` | `${string}(${string})`;

type Edge = readonly [from: Node, to: Node, label?: string];

/** The node of each endpoint (by its resource), other function, table and queue. */
interface Nodes {
  readonly endpoints: (resource: string) => Node;
  readonly other: (name: string) => Node;
  readonly table: (name: string) => Node;
  readonly queue: (name: string) => Node;
}

const gateway: Node = 'gateway["API Gateway"]';
const machines: Node = 'machines(["Machines"])';
const results: Node = 'results[("S3: results")]';
const receivers: Node = 'receivers(["Receivers of webhooks"])';
const countOf = (facts: object) => Object.keys(facts).length;
const backgroundNames = Object.keys(otherFunctions).filter(
  (name) => name !== 'authorizer' && name !== 'methodNotAllowed',
) as (keyof typeof otherFunctions)[];

/** The whole service in a few nodes: all endpoints are one, all tables, all queues. */
export function overview(): string {
  const nodes: Nodes = {
    endpoints: () => `endpoints["${countOf(routes)} endpoints"]`,
    other: () => `background["${backgroundNames.length} background functions"]`,
    table: () => `tables[("DynamoDB: ${countOf(tables)} tables")]`,
    queue: () => `queues[["SQS: ${countOf(queues)} queues"]]`,
  };
  return flowchart([...callEdges(nodes), ...backgroundEdges(nodes)]);
}

const single: Omit<Nodes, 'endpoints'> = {
  other: (name) => `${name}["${name}"]`,
  table: (name) => `table_${name}[("${name}")]`,
  queue: (name) => `queue_${name}[["${name}"]]`,
};

/** The way of messages and changed rows through queues, streams and background functions. */
export function background(): string {
  const isUse = ([, to]: Edge) => /^(table|results|secret)/.test(to);
  return flowchart(backgroundEdges(single).filter((edge) => !isUse(edge)));
}

/** The tables and queues that each part uses, an endpoint's resource or a background function. */
export function useTable(): string {
  const rows = [
    ...Object.values(routes).map((route) => [route.entry.split('/')[1] ?? '', route] as const),
    ...backgroundNames.map((name) => [name, otherFunctions[name]] as const),
  ];
  const used = Array.from(
    Map.groupBy(rows, ([part]) => part),
    ([part, ofPart]) => {
      const names = new Set(
        ofPart.flatMap(([, description]) => usedBy(description).map((name) => name.split('/')[0] ?? '')),
      );
      const ofTables = Object.keys(tables).filter((name) => names.has(name));
      const isQueue = (name: string) => Object.hasOwn(queues, name);
      const others = [
        ...(names.has('Results') ? ['results in S3'] : []),
        ...(names.has('WebhookKey') ? ['the webhook key'] : []),
      ];
      return [`\`${part}\``, ofTables, [...names].filter(isQueue), others] as const;
    },
  );
  return markdownTable(
    ['part', 'tables', 'sends to', 'others'],
    used.map(([part, ...lists]) => [part, ...lists.map((list) => list.join(', '))]),
  );
}

function callEdges(nodes: Nodes): Edge[] {
  const ofRoutes = Object.values(routes).flatMap((route) => {
    const from = nodes.endpoints(route.entry.split('/')[1] ?? '');
    return [[gateway, from] as const, ...uses(from, route, nodes)];
  });
  return [['users(["Users"])', gateway], [machines, gateway], ...ofRoutes];
}

function backgroundEdges(nodes: Omit<Nodes, 'endpoints'>): Edge[] {
  const ofStreams = (Object.entries(tables) as [string, TableDescription][]).flatMap(([name, { stream }]): Edge[] =>
    stream ? [[nodes.table(name), nodes.other(stream.consumer), 'stream']] : [],
  );
  return [
    [machines, nodes.queue('Events'), 'lifecycle events'],
    ...Object.entries(queues).map(([name, { consumer }]): Edge => [nodes.queue(name), nodes.other(consumer.function)]),
    ...ofStreams,
    ...backgroundNames.flatMap((name) => uses(nodes.other(name), otherFunctions[name], nodes)),
    [nodes.other('deliverWebhooks'), receivers],
  ];
}

/** What a function has any right to. */
function usedBy({ uses }: FunctionDescription): string[] {
  return Object.entries<readonly string[]>(uses).flatMap(([name, actions]) => (actions.length > 0 ? [name] : []));
}

/** Dead letters are left out: every consumer has its own. */
function uses(from: Node, description: FunctionDescription, { table, queue }: Omit<Nodes, 'endpoints'>): Edge[] {
  return usedBy(description).flatMap((name): Edge[] => {
    const [base = ''] = name.split('/');
    if (Object.hasOwn(tables, base)) return [[from, table(base)]];
    if (name.startsWith('Results')) return [[from, results]];
    if (name === 'WebhookKey') return [[from, 'secret[("Secret: webhook key")]']];
    return name === base ? [[from, queue(base)]] : [];
  });
}

function flowchart(edges: readonly Edge[]): string {
  const nodes = new Set(edges.flatMap((edge) => edge.slice(0, 2) as Node[]));
  const lines = edges.map(([from, to, label]) => `${idOf(from)} -->${label ? `|${label}|` : ''} ${idOf(to)}`);
  return mermaid('flowchart LR', [...nodes, ...new Set(lines)]);
}

function idOf(node: Node): string {
  return node.replace(/[[(].*/, '');
}

export function batchStates(): string {
  return states(batchStatuses);
}

export function jobStates(): string {
  return states(jobStatuses);
}

const stageNames: Readonly<Record<Stage, string>> = { 0: 'waits', 1: 'at work', 2: 'being canceled', 3: 'ended' };

/** The stages with their statuses, and an arrow to every later stage. */
function states(statuses: Readonly<Record<string, { readonly stage: Stage }>>): string {
  const stages = ([0, 1, 2, 3] as const).map((stage) => ({
    stage,
    names: Object.keys(statuses).filter((name) => statuses[name]?.stage === stage),
  }));
  const boxes = stages.flatMap(({ stage, names }) => [
    `state "${stageNames[stage]}" as stage${stage} {`,
    ...names.map((name) => `  ${name}`),
    ...(stage === 3 ? [] : pairs(names).flatMap(([a, b]) => [`  ${a} --> ${b}`, `  ${b} --> ${a}`])),
    '}',
  ]);
  const arrows = pairs(stages).map(([from, to]) => `stage${from.stage} --> stage${to.stage}`);
  return mermaid('stateDiagram-v2', ['direction LR', '[*] --> stage0', ...boxes, ...arrows, 'stage3 --> [*]']);
}

function pairs<Item>(items: readonly Item[]): (readonly [Item, Item])[] {
  return items.flatMap((first, at) => items.slice(at + 1).map((second) => [first, second] as const));
}

/** Tables with their keys. Rows of an owner refer to each other by id. */
export function dataModel(): string {
  const entities = (Object.entries(tables) as [string, TableDescription][]).flatMap(([name, table]) => {
    const keys = { partition: [table.partitionKey], sort: [table.sortKey] };
    const indexes = Object.entries(table.indexes).flatMap(([index, { partitionKeys, sortKeys }]) =>
      [...partitionKeys, ...sortKeys].map((key) => ({ key, index })),
    );
    const attributes = Object.entries(table.keyTypes).map(([key, type]) => {
      const roles = [
        ...(keys.partition.includes(key) ? ['partition key'] : []),
        ...(keys.sort.includes(key) ? ['sort key'] : []),
        ...indexes.filter((entry) => entry.key === key).map(({ index }) => index),
      ];
      return `  ${{ S: 'string', N: 'number', B: 'binary' }[type]} ${key} "${roles.join(', ')}"`;
    });
    return [`${name} {`, ...attributes, '}'];
  });
  return mermaid('erDiagram', [...entities, ...relations]);
}

const relations = [
  'Batches ||--o{ Jobs : has',
  'Batches ||--o| Sequences : "sequence_builder"',
  'Jobs ||--o| Sequences : "own sequence"',
  'Batches ||--o| WebhookAttempts : "last attempt"',
  'Batches ||--o| DeviceQueue : "waits or runs"',
  'Devices ||--o{ DeviceQueue : "takes from"',
  'Devices ||--o{ Calibrations : "measured"',
  'Columns ||--|| Batches : "values of all rows"',
  'Columns ||--|| Jobs : "values of all rows"',
];

function mermaid(kind: string, lines: readonly string[]): string {
  return ['```mermaid', kind, ...lines.map((line) => `  ${line}`), '```'].join('\n');
}
