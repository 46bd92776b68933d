/**
 * Deploys the whole service to an emulator of AWS that others have built, and examines it from
 * outside. Its IAM judges every call of a function by the function's role. It has no throttling and
 * no lag: those stay with other tests.
 *
 * usage: check-deployment.ts VENV FOLDER; the virtual environment has ministack and the AWS CLI.
 */

import { equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Acceptance, type Caller, withCallers } from '../../../infra/acceptance/acceptance.ts';
import { runBatch } from '../../../infra/acceptance/run-batch.ts';
import { runSteps } from '../../../infra/acceptance/run-steps.ts';
import { steps } from '../../../infra/acceptance/steps.ts';
import { aws as runAws } from '../../../infra/commands/aws-cli.ts';
import { assemblyOf } from '../../../infra/local/template/synthesize.ts';
import { call } from '../../../infra/smoke/api-client.ts';
import { eventually } from '../../../infra/smoke/eventually.ts';
import { startPassingServer } from '../../support/passing-server.ts';
import { verify } from '../../support/verify-webhook.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';
import { bootstrap, deploy, expectRefusals, outputsOf, stackName } from './deploy.ts';
import { startEmulatedAws } from './emulated-aws.ts';

const [venv, folder] = process.argv.slice(2) as [string, string];

/** Of Secrets Manager. */
const rotation = ['createSecret', 'setSecret', 'testSecret', 'finishSecret'].map((Step) => ({ Step }));

await using aws = await startEmulatedAws(venv, folder);
// For the commands, which call the AWS CLI and keep what they note.
Object.assign(process.env, aws.environment);
process.chdir(folder);
try {
  await checkDeployment();
} catch (error) {
  console.error(error);
  console.error(aws.log().slice(-20_000));
  process.exitCode = 1;
}

/** All steps of an acceptance, as far as the emulator reaches; a delivery and a refusal between. */
async function checkDeployment() {
  const assembly = await assemblyOf({});
  await bootstrap(aws, assembly);
  await expectRefusals(aws);
  await using api = await startFront();
  let action: 'create' | 'update' = 'create';
  const acceptance = withCallers({
    ...{ stack: stackName, assembly, aws: runAws },
    async deploy(context = {}) {
      const deployed = Object.keys(context).length === 0 ? assembly : await assemblyOf(context);
      await deploy(aws, deployed, { action, apiUrl: api.url });
      api.serve((await outputsOf(aws)).RestApiId!);
      if (action === 'create') await callRotation([{}]);
      action = 'update';
    },
    // It restores what a table has now, whatever the second.
    restorableTime: async () => `${new Date(Date.now() - 1_000).toISOString().slice(0, 19)}Z`,
  });
  const { batch, remove, restore, 'batch again': batchAgain, ...others } = steps;
  const run = async (some: object) => {
    const report = await runSteps(acceptance, {
      ...{ steps: { ...some }, commit: 'this', restores: true, print: (line) => console.log(line), save() {} },
      report: { engine: 'ministack', stack: stackName, steps: {} },
    });
    const outcomes = Object.values(report.steps).flatMap(({ checks }) => Object.entries(checks));
    const failed = outcomes.filter(([, { result }]) => result === 'fails').map(([promise]) => promise);
    if (failed.length > 0) throw new Error(`These fail: ${failed.join('; ')}`);
  };
  await run({ ...others, batch });
  await expectDelivery(acceptance);
  await expectRefusal((await acceptance.callers()).user);
  await callRotation(rotation);
  await run({ restore, 'batch again': batchAgain });
  await expectDelivery(acceptance);
  await run({ remove });
}

/** Signed messages about a batch and its job. */
async function expectDelivery(acceptance: Acceptance) {
  const { user, machine } = await acceptance.callers();
  const receiver = await startWebhookReceiver();
  try {
    const batchId = await runBatch(user, machine, `${receiver.url}/hooks`);
    await eventually(60, async () => receiver.messages.length >= 2);
    const { data } = (await call(user, '/api/v1/webhooks/public-key')).body;
    // After a rotation the key before signs as well, and for a minute alone.
    const keys = [data.public_key, data.previous_public_key].filter((key) => key !== null);
    for (const message of receiver.messages) {
      const { data: ended } = verify(message.headers as Record<string, string>, message.body, keys) as {
        data: { batch_id: string; status: string };
      };
      equal(ended.batch_id, batchId);
      equal(ended.status, 'DONE');
    }
  } finally {
    await receiver.stop();
  }
}

/** As Secrets Manager does for a rotation, and the clock (`{}`): the emulator never does. */
async function callRotation(steps: readonly object[]) {
  const { StackResources } = await aws.run('cloudformation', 'describe-stack-resources', '--stack-name', stackName);
  const physicalId = (part: string, type: string) =>
    StackResources.find(
      (each: Record<string, string>) => each.ResourceType === type && each.LogicalResourceId!.includes(part),
    ).PhysicalResourceId;
  const SecretId = physicalId('WebhookKey', 'AWS::SecretsManager::Secret');
  const name = physicalId('RotateWebhookKey', 'AWS::Lambda::Function');
  const ClientRequestToken = crypto.randomUUID();
  for (const step of steps) {
    const payload = JSON.stringify({ SecretId, ClientRequestToken, ...step });
    const out = join(folder, 'rotation.json');
    const { FunctionError } = await aws.run('lambda', 'invoke', '--function-name', name, '--payload', payload, out);
    equal(FunctionError, undefined, readFileSync(out, 'utf8'));
  }
}

/** The API at an address of its own: the emulator distinguishes APIs by their host. */
async function startFront() {
  let id = '';
  const server = await startPassingServer(aws.endpoint, async ({ headers }, pass, answer) => {
    headers.host = `${id}.execute-api.localhost`;
    answer(await pass());
  });
  return {
    url: `${server.url}/core-fast`,
    serve(restApiId: string) {
      id = restApiId;
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Takes the tables from a function's role: the emulator must refuse its calls then. */
async function expectRefusal(user: Caller) {
  const { Roles } = await aws.run('iam', 'list-roles');
  const { RoleName } = Roles.find((role: { RoleName: string }) => role.RoleName.includes('ApiListBatchesRole'));
  const policy = ['--role-name', RoleName, '--policy-name', 'FunctionPolicy'];
  const { PolicyDocument } = await aws.run('iam', 'get-role-policy', ...policy);
  const others = PolicyDocument.Statement.filter((each: object) => !JSON.stringify(each).includes('dynamodb:'));
  const put = (document: object) =>
    aws.run('iam', 'put-role-policy', ...policy, '--policy-document', JSON.stringify(document));
  await put({ ...PolicyDocument, Statement: others });
  equal((await call(user, '/api/v1/batches')).status, 500);
  await put(PolicyDocument);
  equal((await call(user, '/api/v1/batches')).status, 200);
}
