import { deepEqual, equal } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { outputReader } from '../commands/aws-cli.ts';
import { call } from '../smoke/api-client.ts';
import { userOf } from '../smoke/deployment.ts';
import type { Checks } from '../smoke/examine.ts';
import { lookAgainSeconds } from '../user-data/erase-user.ts';
import { type Acceptance, devicePrefix, runScript, userNames } from './acceptance.ts';
import { send } from './run-batch.ts';

const secondsBetween = 90;
/** The runs until an erasure may be done, and a few more. */
const maxErasures = Math.ceil(lookAgainSeconds / secondsBetween) + 4;

export const removeChecks: Checks<Acceptance> = {
  async 'the rows of its users are erased'({ stack, callers }) {
    const { user, operator } = await callers();
    for (const token of [user.token, operator.token]) equal((await erase(stack, userOf(token))) === 1, false);
    deepEqual((await call(user, '/api/v1/batches')).body.data, []);
  },
  async 'nothing of before can bring them back'({ stack, callers }) {
    const { user } = await callers();
    for (let left = maxErasures; (await erase(stack, user.userId)) !== 0; left -= 1) {
      if (left === 0) throw new Error(`Run it once more: npm run erase -- --stack ${stack} --user ${user.userId}`);
      await wait(1_000 * secondsBetween);
    }
  },
  async 'its devices are removed'({ callers }) {
    const { machine } = await callers();
    const devices: { device_type: string }[] = (await call(machine, '/api/v1/devices')).body.data;
    const own = devices.filter(({ device_type }) => device_type.startsWith(devicePrefix));
    for (const { device_type } of own) await send(machine, 'DELETE', `/api/v1/devices/${device_type}`);
  },
  async 'its accounts are deleted'(acceptance) {
    const pool = ['--user-pool-id', (await outputReader(acceptance.stack, acceptance.aws))('UserPoolId')];
    for (const name of Object.values(userNames)) {
      await acceptance.aws('cognito-idp', 'admin-delete-user', ...pool, '--username', name);
    }
  },
};

/** Returns the exit code: 2 while links and messages of before may bring something back. */
async function erase(stack: string, userId: string): Promise<number | null> {
  const { code, printed } = await runScript('user-data/erase.ts', '--force', '--stack', stack, '--user', userId);
  if (code !== 0 && code !== 2) throw new Error(printed);
  return code;
}
