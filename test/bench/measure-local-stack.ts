import { readFileSync } from 'node:fs';
import { exampleSequence } from '../../functions/schemas/example-sequence.ts';
import type { LocalStackFigure } from '../../infra/docs/performance.ts';
import type { StackDescription } from '../../infra/local/greeting.ts';
import { descendants, type StackCommand, startCommand } from '../support/stack-command.ts';
import type { Measured } from './measure-endpoints.ts';

const callsAtOnce = 8;

/**
 * What `npm start` takes of a machine, by Linux's own accounts: until it is ready, and for this
 * number of calls: 6 of 10 ask for a status, 2 for a list, 1 creates a batch, 1 claims one. The
 * functions are bundled already, as at each start but the first.
 */
export async function measureLocalStack(
  calls: number,
  progress: (done: number) => void,
): Promise<Measured<LocalStackFigure>[]> {
  const ownDatabase = { AWS_ENDPOINT_URL_DYNAMODB: undefined };
  const start = () => startCommand({ PORT: '0', npm_lifecycle_event: undefined, ...ownDatabase }, []);
  await bundleBy(start());
  const command = start();
  try {
    const description = await command.ready();
    const ready = usageOf(command);
    const call = mixedCalls(description);
    let [begun, done] = [0, 0];
    const worker = async () => {
      while (begun < calls) {
        await call(begun++);
        progress(++done);
      }
    };
    await Promise.all(Array.from({ length: callsAtOnce }, worker));
    const after = usageOf(command);
    const cpuMilliseconds = (1_000 * (after.cpuSeconds - ready.cpuSeconds)) / calls;
    return [
      figure('when it is ready', ready, undefined),
      figure(`after ${calls.toLocaleString('en')} calls`, after, cpuMilliseconds),
    ];
  } finally {
    await command.stop();
  }
}

async function bundleBy(command: StackCommand) {
  try {
    await command.ready();
  } finally {
    await command.stop();
  }
}

function figure(name: string, { cpuSeconds, megabytes }: Usage, cpuMillisecondsOfCall: number | undefined) {
  const excesses = megabytes > maxMegabytes ? [`${megabytes} MB instead of ${maxMegabytes}`] : [];
  return { name, cpuSeconds, megabytes, ...(cpuMillisecondsOfCall && { cpuMillisecondsOfCall }), excesses };
}

/** A laptop has other work. */
const maxMegabytes = 800;

interface Usage {
  readonly cpuSeconds: number;
  /** Resident. */
  readonly megabytes: number;
}

/** Of the command and all that it started, Java too. A clock tick is 10 ms. */
function usageOf({ process: { pid } }: StackCommand): Usage {
  const all = [pid!, ...descendants(pid!)].map((id) => {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    const ticks = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 16).map(Number);
    const [, kilobytes = 0] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? [];
    return { cpuSeconds: ticks.reduce((sum, each) => sum + each, 0) / 100, megabytes: Number(kilobytes) / 1_024 };
  });
  return all.reduce((one, other) => ({
    cpuSeconds: one.cpuSeconds + other.cpuSeconds,
    megabytes: one.megabytes + other.megabytes,
  }));
}

/** Makes the call of this number. Throws when its answer is no success. */
function mixedCalls({ baseUrl, users, device }: StackDescription): (at: number) => Promise<void> {
  const user = users[0]!;
  const ids: string[] = [];
  const send = async (method: string, path: string, token: string, body?: object) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const create = async () => {
    const body = {
      ...{ project_id: projectId, device_type: deviceType, sequence_builder: exampleSequence },
      jobs: [{ runs: 10, variables: { omega: 6 } }],
    };
    const { data } = await send('POST', '/api/v1/batches', user.token, body);
    ids.push(data.id);
  };
  return async (at) => {
    const kind = at % 10;
    if (ids.length === 0 || kind === 0) await create();
    else if (kind === 1) await send('POST', `/api/v1/devices/${deviceType}/claim`, device.token, { worker: 'bench' });
    else if (kind < 4) await send('GET', '/api/v1/batches?limit=100', user.token);
    else await send('GET', `/api/v1/batches/${ids[at % ids.length]}/status`, user.token);
  };
}

const projectId = '6b1a4f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
const deviceType = 'EMU_MPS';
