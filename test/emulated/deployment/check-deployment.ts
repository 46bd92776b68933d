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
import { assemblyOf } from '../../../infra/local/template/synthesize.ts';
import { call } from '../../../infra/smoke/api-client.ts';
import { clientToken } from '../../../infra/smoke/client-token.ts';
import { startPassingServer } from '../../support/passing-server.ts';
import { bootstrap, deploy, expectRefusals, outputsOf, stackName } from './deploy.ts';
import { startEmulatedAws } from './emulated-aws.ts';
import { rehearseRestore } from './rehearse-restore.ts';
import { runBatch } from './run-batch.ts';
import { runSmoke } from './run-smoke.ts';

type Outputs = Awaited<ReturnType<typeof outputsOf>>;

const [venv, folder] = process.argv.slice(2) as [string, string];

/** Of Secrets Manager. */
const rotation = ['createSecret', 'setSecret', 'testSecret', 'finishSecret'].map((Step) => ({ Step }));

await using aws = await startEmulatedAws(venv, folder);
// For the smoke test, which calls the AWS CLI.
Object.assign(process.env, aws.environment);
try {
  await checkDeployment();
} catch (error) {
  console.error(error);
  console.error(aws.log().slice(-20_000));
  process.exitCode = 1;
}

async function checkDeployment() {
  const assembly = await assemblyOf({});
  await bootstrap(aws, assembly);
  await expectRefusals(aws);
  await using api = await startFront();
  await deploy(aws, assembly, { action: 'create', apiUrl: api.url });
  const outputs = await outputsOf(aws);
  api.serve(outputs.RestApiId!);
  await callRotation([{}]);
  report('deployed');

  const token = await newToken(outputs, 'ada');
  const user = { apiUrl: api.url, token };
  await runBatch(user, await machine(outputs));
  report('a batch created, claimed, uploaded, reported, its webhook called');
  await expectRefusal(user);
  await runSmoke(token);
  report('the smoke test, by HTTP');

  await callRotation(rotation);
  await rehearseRestore({
    aws,
    user,
    folder,
    assemblyOf: (restored) => assemblyOf({ 'tables-dev': restored }),
  });
  api.serve((await outputsOf(aws)).RestApiId!);
  await runBatch(user, await machine(outputs));
  report('all tables restored, and a batch from its creation to its webhook on these');
}

function report(what: string) {
  console.log(`${process.uptime().toFixed(0).padStart(4)} s  ${what}`);
}

async function machine(outputs: Outputs) {
  const ids = ['--user-pool-id', outputs.UserPoolId!, '--client-id', outputs.MachineClientId!];
  const { UserPoolClient } = await aws.run('cognito-idp', 'describe-user-pool-client', ...ids);
  const { ClientId, ClientSecret } = UserPoolClient;
  return { apiUrl: outputs.ApiUrl!, token: await clientToken(outputs.TokenEndpoint!, ClientId, ClientSecret) };
}

async function newToken(outputs: Outputs, username: string) {
  const pool = ['--user-pool-id', outputs.UserPoolId!, '--username', username];
  await aws.run('cognito-idp', 'admin-create-user', ...pool);
  await aws.run('cognito-idp', 'admin-set-user-password', ...pool, '--password', 'Emulated-12345', '--permanent');
  const { AuthenticationResult } = await aws.run(
    ...['cognito-idp', 'initiate-auth', '--client-id', outputs.UserPoolClientId!],
    ...['--auth-flow', 'USER_PASSWORD_AUTH', '--auth-parameters', `USERNAME=${username},PASSWORD=Emulated-12345`],
  );
  return AuthenticationResult.AccessToken;
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
async function expectRefusal(user: { readonly apiUrl: string; readonly token: string }) {
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
