import { equal, rejects } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { stackOutputs } from '../../../infra/commands/aws-cli.ts';
import { assetBucket, type EmulatedAws, objectStore, readTemplate, uploadAssets } from './emulated-aws.ts';
import { fitTemplate, refusedResources } from './emulated-template.ts';

export const stackName = 'QuantumBatchApi-dev';
const maxDeploymentSeconds = 120;

/** What `cdk bootstrap` does, as far as a deployment needs it. */
export async function bootstrap(aws: EmulatedAws, assembly: string) {
  await aws.run(
    'ssm',
    'put-parameter',
    '--name',
    '/cdk-bootstrap/hnb659fds/version',
    '--type',
    'String',
    '--value',
    '30',
  );
  await uploadAssets(aws, assembly);
}

/** What `cdk deploy` does with the assembly. Throws where a resource could not be created. */
export async function deploy(
  aws: EmulatedAws,
  assembly: string,
  { action, apiUrl }: { action: 'create' | 'update'; apiUrl: string },
) {
  const template = fitTemplate(readTemplate(assembly), { endpoint: aws.endpoint, apiUrl });
  await startDeployment(aws, stackName, template, action);
  equal(await deploymentResult(aws, stackName), `${action.toUpperCase()}_COMPLETE`);
}

/** The outputs of the stack. */
export async function outputsOf(aws: EmulatedAws): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries(await stackOutputs(stackName, aws.run));
}

/** Throws where the emulator knows by now what is left out for it. */
export async function expectRefusals(aws: EmulatedAws) {
  for (const [at, resource] of refusedResources.entries()) {
    const template = { Resources: { Refused: resource } };
    await rejects(
      startDeployment(aws, `refused-${at}`, template, 'create').then(() => deploymentResult(aws, `refused-${at}`)),
      /Unrecognized resource types|is not supported/,
      `Known now, so leave it in: ${JSON.stringify(resource)}`,
    );
  }
}

async function startDeployment(aws: EmulatedAws, name: string, template: object, action: string) {
  const Key = `${name}.json`;
  const Body = JSON.stringify(template);
  await objectStore(aws).send(new PutObjectCommand({ Bucket: assetBucket, Key, Body }));
  const of = ['--stack-name', name, '--template-url', `${aws.endpoint}/${assetBucket}/${Key}`];
  const changeSet = ['--stack-name', name, '--change-set-name', `d${Date.now()}`];
  const type = ['--change-set-type', action.toUpperCase(), '--capabilities', 'CAPABILITY_IAM'];
  await aws.run(
    'cloudformation',
    'create-change-set',
    ...changeSet.slice(2),
    ...of,
    ...type,
    '--import-existing-resources',
  );
  await aws.run('cloudformation', 'wait', 'change-set-create-complete', ...changeSet);
  await aws.run('cloudformation', 'execute-change-set', ...changeSet);
}

async function deploymentResult(aws: EmulatedAws, name: string): Promise<string> {
  for (const end = Date.now() + maxDeploymentSeconds * 1_000; ; ) {
    const { Stacks } = await aws.run('cloudformation', 'describe-stacks', '--stack-name', name);
    const { StackStatus: status } = Stacks[0];
    if (!status.endsWith('_IN_PROGRESS')) {
      if (/FAILED|ROLLBACK/.test(status)) throw new Error(await failures(aws, name));
      return status;
    }
    if (Date.now() > end) throw new Error(`${name}: ${status} for ${maxDeploymentSeconds} s.`);
    await wait(500);
  }
}

async function failures(aws: EmulatedAws, name: string): Promise<string> {
  const { StackEvents } = await aws.run('cloudformation', 'describe-stack-events', '--stack-name', name);
  return StackEvents.filter(({ ResourceStatus }: { ResourceStatus: string }) => ResourceStatus.endsWith('FAILED'))
    .map(
      (event: Record<string, string>) =>
        `${event.ResourceType} ${event.LogicalResourceId}: ${event.ResourceStatusReason}`,
    )
    .join('\n');
}
