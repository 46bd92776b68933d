/** Drawings in Mermaid, made from the fact sheets of functions/. */

import { queues } from '../../functions/queues.ts';
import { type FunctionDescription, otherFunctions, routes } from '../../functions/routes.ts';
import { batchStatuses, jobStatuses, type Stage } from '../../functions/statuses.ts';
import { type TableDescription, tables } from '../../functions/tables.ts';

/** A node as Mermaid defines it: its name, then its shape and text. */
type Node = `${string}[${string}]` | `${string}(${string})`;

interface Grouping {
  /** The node of an endpoint, by its resource. */
  readonly endpoints: (resource: string) => Node;
  readonly table: (name: string) => Node;
  readonly hasSecret: boolean;
}

/** The whole service in a dozen nodes: all endpoints are one, and all tables. */
export function overview(): string {
  const endpoints: Node = `endpoints["${Object.keys(routes).length} endpoints, a function each"]`;
  const table: Node = `tables[("DynamoDB: ${Object.keys(tables).length} tables")]`;
  return architecture({ endpoints: () => endpoints, table: () => table, hasSecret: false });
}

/** Endpoints by resource, and which tables and queues each resource, consumer and schedule uses. */
export function detailedArchitecture(): string {
  return architecture({
    endpoints: (resource) => `endpoints_${resource}["endpoints/${resource}"]`,
    table: (name) => `table_${name}[("${name}")]`,
    hasSecret: true,
  });
}

function architecture({ endpoints, table, hasSecret }: Grouping): string {
  const edges: (readonly [from: Node, to: Node, label?: string])[] = [];
  const queue = (name: string): Node => `queue_${name}[["${name}"]]`;
  const fn = (name: string): Node => `${name}["${name}"]`;
  const gateway: Node = 'gateway["API Gateway"]';
  const machines: Node = 'machines(["Machines"])';
  const used = (name: string): Node[] => {
    const [base = ''] = name.split('/');
    if (Object.hasOwn(tables, base)) return [table(base)];
    if (name === 'Results') return ['results[("S3: results")]'];
    if (name === 'WebhookKey') return hasSecret ? ['secret[("Secret: webhook key")]'] : [];
    return name === base ? [queue(base)] : [];
  };
  const use = (from: Node, { uses }: FunctionDescription) => {
    for (const to of Object.keys(uses).flatMap(used)) edges.push([from, to]);
  };
  edges.push(['users(["Users"])', gateway], [machines, gateway], [machines, queue('Events'), 'lifecycle events']);
  for (const route of Object.values(routes)) {
    const from = endpoints(route.entry.split('/')[1] ?? '');
    edges.push([gateway, from]);
    use(from, route);
  }
  for (const [name, { consumer }] of Object.entries(queues)) edges.push([queue(name), fn(consumer.function)]);
  for (const [name, { stream }] of Object.entries(tables) as [string, TableDescription][]) {
    if (stream) edges.push([table(name), fn(stream.consumer), 'stream']);
  }
  for (const [name, description] of Object.entries(otherFunctions)) use(fn(name), description);
  edges.push([fn('deliverWebhooks'), 'receivers(["Receivers of webhooks"])']);
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
  'Columns ||--|| Batches : "values of all rows"',
  'Columns ||--|| Jobs : "values of all rows"',
];

function mermaid(kind: string, lines: readonly string[]): string {
  return ['```mermaid', kind, ...lines.map((line) => `  ${line}`), '```'].join('\n');
}
