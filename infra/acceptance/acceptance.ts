/** What the steps of an acceptance work with: a synthesized stack, the account, and its callers. */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operatorsGroup } from '../../functions/identity/operator-scope.ts';
import { type aws, outputReader } from '../commands/aws-cli.ts';
import { awsDeployment } from '../smoke/aws-deployment.ts';
import type { Deployment } from '../smoke/deployment.ts';

export interface Acceptance {
  readonly stack: string;
  /** The folder of the assembly that is deployed. */
  readonly assembly: string;
  readonly aws: typeof aws;
  /** Deploys the assembly; with `context` one that is synthesized with it as well. */
  deploy(context?: Readonly<Record<string, string>>): Promise<void>;
  /** A second from now on to which all tables can go back, in UTC. */
  restorableTime(): Promise<string>;
  callers(): Promise<Callers>;
}

export type Caller = Pick<Deployment, 'apiUrl' | 'token'>;

/** Throwaway accounts of the stack's own user pool, and its machines' client. */
export interface Callers {
  readonly user: Deployment;
  readonly operator: Caller;
  readonly machine: Caller;
}

export const userNames = { user: 'acceptance-user', operator: 'acceptance-operator' } as const;

/** Types of devices that the acceptance works with begin so. */
export const devicePrefix = 'ACCEPTANCE-';

/** Tokens last an hour. They are kept for less than that, so that the slowest step ends before. */
const tokenMilliseconds = 1_500_000;

/** Gives an acceptance its callers, whose accounts it creates when they are first asked for. */
export function withCallers(base: Omit<Acceptance, 'callers'>): Acceptance {
  let kept: { readonly until: number; readonly callers: Promise<Callers> } | undefined;
  return {
    ...base,
    callers() {
      if (kept === undefined || kept.until < Date.now()) {
        kept = { until: Date.now() + tokenMilliseconds, callers: createCallers(base) };
      }
      return kept.callers;
    },
  };
}

async function createCallers(base: Omit<Acceptance, 'callers'>): Promise<Callers> {
  const output = await outputReader(base.stack, base.aws);
  const user = await awsDeployment(base.stack, await signIn(base, output, userNames.user));
  await base.aws(
    ...['cognito-idp', 'admin-add-user-to-group', '--user-pool-id', output('UserPoolId')],
    ...['--username', await createUser(base, output, userNames.operator), '--group-name', operatorsGroup],
  );
  const { apiUrl } = user;
  return {
    user,
    operator: { apiUrl, token: await signIn(base, output, userNames.operator) },
    machine: { apiUrl, token: await user.deviceToken() },
  };
}

type Output = (name: string) => string;

/** Without a mail. An account that is there already stays. */
async function createUser({ aws }: Pick<Acceptance, 'aws'>, output: Output, name: string): Promise<string> {
  try {
    const user = ['--user-pool-id', output('UserPoolId'), '--username', name];
    await aws('cognito-idp', 'admin-create-user', ...user, '--message-action', 'SUPPRESS');
  } catch (error) {
    if (!/UsernameExistsException/.test((error as Error).message)) throw error;
  }
  return name;
}

/** A token, got with a new random password, which is not kept. */
async function signIn(base: Pick<Acceptance, 'aws'>, output: Output, name: string): Promise<string> {
  const password = `Aa1!${randomBytes(18).toString('base64url')}`;
  const user = ['--user-pool-id', output('UserPoolId'), '--username', await createUser(base, output, name)];
  await base.aws('cognito-idp', 'admin-set-user-password', ...user, '--password', password, '--permanent');
  const { AuthenticationResult } = await base.aws(
    ...['cognito-idp', 'initiate-auth', '--client-id', output('UserPoolClientId')],
    ...['--auth-flow', 'USER_PASSWORD_AUTH', '--auth-parameters', `USERNAME=${name},PASSWORD=${password}`],
  );
  return AuthenticationResult.AccessToken;
}

/** The resources of the synthesized template, by their logical ids. */
export function readResources({ assembly }: Pick<Acceptance, 'assembly'>): Readonly<Record<string, Resource>> {
  const file = readdirSync(assembly).find((name) => name.endsWith('.template.json'))!;
  return JSON.parse(readFileSync(join(assembly, file), 'utf8')).Resources;
}

interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the type.
  readonly Properties?: any;
  readonly Metadata?: { readonly 'aws:cdk:path'?: string };
}

/** The names that the account gave to the stack's resources, by their logical ids. */
export async function physicalNames({ stack, aws }: Pick<Acceptance, 'stack' | 'aws'>) {
  const { StackResourceSummaries } = await aws('cloudformation', 'list-stack-resources', '--stack-name', stack);
  const summaries: readonly { LogicalResourceId: string; PhysicalResourceId: string }[] = StackResourceSummaries;
  return (logicalId: string): string => {
    const found = summaries.find(({ LogicalResourceId }) => LogicalResourceId === logicalId);
    if (found === undefined) throw new Error(`The stack ${stack} has no ${logicalId}: deploy it again.`);
    return found.PhysicalResourceId;
  };
}

/** Runs a command of this repository: its exit code, and what it printed. */
export async function runScript(file: string, ...parameters: readonly string[]) {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', file), ...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += data));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, printed };
}
