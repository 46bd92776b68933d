import { otherFunctions } from '../../functions/other-functions.ts';
import { queues } from '../../functions/queues.ts';
import type { FunctionDescription } from '../../functions/rights.ts';
import { routes } from '../../functions/routes.ts';
import { type TableDescription, tables } from '../../functions/tables.ts';
import { resultsPrefix } from '../../functions/values/results-key.ts';
import { outputReader } from '../commands/aws-cli.ts';
import { type Acceptance, physicalNames, readResources } from './acceptance.ts';

const functions = Object.entries<FunctionDescription>({ ...routes, ...otherFunctions });

/** By service, actions that no function may do, whatever it uses. */
const actionsOfNone = {
  dynamodb: ['Scan', 'DeleteTable'],
  s3: ['DeleteObject', 'PutBucketPolicy'],
  sqs: ['PurgeQueue'],
  secretsmanager: ['DeleteSecret'],
} as const;

type Service = keyof typeof actionsOfNone;
const services = Object.keys(actionsOfNone) as Service[];

/** By what `uses` names. */
type Resources = Readonly<Record<string, { readonly service: Service; readonly arn: string }>>;

/**
 * Asks IAM's simulator whether the role of each function may do what its `uses` say, and nothing
 * else: every action that any function or none may do, on every resource of its service. Throws
 * with the differences. The simulator reads no policies of resources. Some 250 calls, without
 * charge.
 */
export async function checkPermissions(acceptance: Pick<Acceptance, 'aws' | 'stack' | 'assembly'>): Promise<string> {
  const { aws, stack } = acceptance;
  const { Stacks } = await aws('cloudformation', 'describe-stacks', '--stack-name', stack);
  const [, partition, , region, account] = String(Stacks[0].StackId).split(':');
  const resources = resourcesOf(
    await outputReader(acceptance.stack, acceptance.aws),
    (service, place) => `arn:${partition}:${service}:${place ?? `${region}:${account}`}`,
  );
  const nameOf = await physicalNames(acceptance);
  const roles = Object.entries(readResources(acceptance)).filter(([, { Type }]) => Type === 'AWS::IAM::Role');
  const differences: string[] = [];
  let count = 0;
  for (const [name, { uses }] of functions) {
    const path = new RegExp(`/${name}Role/Resource$`, 'i');
    const role = roles.find(([, { Metadata }]) => path.test(Metadata?.['aws:cdk:path'] ?? ''));
    if (role === undefined) throw new Error(`The template has no role of ${name}.`);
    const arn = `arn:${partition}:iam::${account}:role/${nameOf(role[0])}`;
    for (const service of services) {
      const allowed = await allowedTo(aws, arn, { service, resources });
      for (const [place, isAllowed] of Object.entries(allowed)) {
        const [resource, action] = place.split(' ') as [string, string];
        const declared: readonly string[] = (uses as Record<string, readonly string[]>)[resource] ?? [];
        if (isAllowed !== declared.includes(action)) {
          differences.push(`${name} may ${isAllowed ? '' : 'not '}${action} ${resource}`);
        }
        count += 1;
      }
    }
  }
  if (differences.length > 0) throw new Error(differences.join('; '));
  return `${count} decisions about ${functions.length} roles`;
}

function resourcesOf(output: (name: string) => string, arnOf: (service: Service, place?: string) => string): Resources {
  const tableArns = Object.entries<TableDescription>(tables).flatMap(([name, { indexes }]) => {
    const arn = `${arnOf('dynamodb')}:table/${output(`${name}Table`)}`;
    const ofIndexes = Object.keys(indexes).map((index) => [`${name}/${index}`, `${arn}/index/${index}`] as const);
    return [[name, arn] as const, ...ofIndexes];
  });
  const queueArns = Object.keys(queues).flatMap((name) =>
    [
      [name, output(`${name}QueueUrl`)] as const,
      [`${name}/dead_letters`, output(`${name}DeadLettersUrl`)] as const,
    ].map(([each, url]) => [each, `${arnOf('sqs')}:${url.split('/').at(-1)}`] as const),
  );
  const bucket = `${arnOf('s3', ':')}:${output('ResultsBucket')}`;
  const arns: Readonly<Record<Service, readonly (readonly [string, string])[]>> = {
    dynamodb: tableArns,
    s3: [
      ['Results', `${bucket}/${resultsPrefix}acceptance.json`],
      ['ResultsVersions', bucket],
    ],
    sqs: queueArns,
    secretsmanager: [['WebhookKey', output('WebhookKeyArn')]],
  };
  return Object.fromEntries(
    services.flatMap((service) => arns[service].map(([name, arn]) => [name, { service, arn }] as const)),
  );
}

/** The actions of a service that some function uses, or none may do. */
function actionsOf(service: Service, resources: Resources): string[] {
  const used = functions.flatMap(([, { uses }]) => Object.entries(uses) as [string, readonly string[]][]);
  const ofService = used.filter(([name]) => resources[name]?.service === service).flatMap(([, actions]) => actions);
  return [...new Set([...ofService, ...actionsOfNone[service]])];
}

interface Evaluation {
  readonly EvalActionName: string;
  readonly EvalResourceName?: string;
  readonly EvalDecision: string;
  /** One action is one result, with the decision about each resource in here. */
  readonly ResourceSpecificResults?: readonly {
    readonly EvalResourceName: string;
    readonly EvalResourceDecision: string;
  }[];
}

/**
 * Whether the role may, by `Resource Action`. Throws where the simulator decides about fewer than
 * it was asked.
 */
async function allowedTo(
  aws: Acceptance['aws'],
  role: string,
  { service, resources }: { readonly service: Service; readonly resources: Resources },
): Promise<Readonly<Record<string, boolean>>> {
  const asked = Object.entries(resources).filter(([, each]) => each.service === service);
  const actions = actionsOf(service, resources);
  const { EvaluationResults } = await aws(
    ...['iam', 'simulate-principal-policy', '--policy-source-arn', role],
    ...['--action-names', ...actions.map((action) => `${service}:${action}`)],
    ...['--resource-arns', ...asked.map(([, { arn }]) => arn)],
    ...['--context-entries', `ContextKeyName=s3:prefix,ContextKeyValues=${resultsPrefix},ContextKeyType=string`],
  );
  const decisions = new Map<string, string>();
  for (const { EvalActionName, EvalResourceName, EvalDecision, ...each } of EvaluationResults as Evaluation[]) {
    for (const { EvalResourceName: arn, EvalResourceDecision } of each.ResourceSpecificResults ?? []) {
      decisions.set(`${arn} ${EvalActionName}`, EvalResourceDecision);
    }
    if (!each.ResourceSpecificResults?.length) decisions.set(`${EvalResourceName} ${EvalActionName}`, EvalDecision);
  }
  return Object.fromEntries(
    asked.flatMap(([name, { arn }]) =>
      actions.map((action) => {
        const decision = decisions.get(`${arn} ${service}:${action}`);
        if (decision === undefined) throw new Error(`The simulator does not decide about ${action} of ${name}.`);
        return [`${name} ${action}`, decision === 'allowed'] as const;
      }),
    ),
  );
}
