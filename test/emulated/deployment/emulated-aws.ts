/** ministack, an emulator of AWS that others have built. */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';

/** One without an old name for queues, which the AWS CLI would call instead of the emulator. */
export const region = 'eu-central-2';
const account = '123456789012';
const maxStartSeconds = 60;

export interface EmulatedAws extends AsyncDisposable {
  readonly endpoint: string;
  /** For programs that call it: the AWS CLI and Node 24 come first in their path. */
  readonly environment: NodeJS.ProcessEnv;
  /** What a command of the AWS CLI answers. */
  // biome-ignore lint/suspicious/noExplicitAny: each command has its own answer.
  run(...parameters: string[]): Promise<any>;
  readonly log: () => string;
}

/** `venv` has ministack and the AWS CLI. It listens on 127.0.0.1 alone, at a free port. */
export async function startEmulatedAws(venv: string, folder: string): Promise<EmulatedAws> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const environment: NodeJS.ProcessEnv = {
    HOME: folder,
    TMPDIR: folder,
    PATH: `${join(venv, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
    AWS_ACCESS_KEY_ID: account,
    AWS_SECRET_ACCESS_KEY: 'emulated',
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ENDPOINT_URL: endpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint,
    // What functions get beside their own: deliveries go to this machine, as in the local stack.
    WEBHOOK_REACH: 'loopback',
  };
  const child = spawn(join(venv, 'bin/python'), ['-m', 'ministack'], {
    cwd: folder,
    env: {
      ...environment,
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      MINISTACK_ACCOUNT_ID: account,
      STATE_DIR: folder,
      AUTH: 'true',
      // Otherwise it listens for the Internet of Things, on all interfaces.
      IOT_MTLS_ENABLED: '0',
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (log += data));
  const end = Date.now() + maxStartSeconds * 1_000;
  for (;;) {
    if (child.exitCode !== null || Date.now() > end) throw new Error(`ministack does not start: ${log}`);
    const answer = await fetch(`${endpoint}/_ministack/health`).catch(() => undefined);
    if (answer?.ok) break;
    await wait(100);
  }
  const execute = promisify(execFile);
  return {
    endpoint,
    environment,
    log: () => log,
    async run(...parameters) {
      const { stdout } = await execute('aws', [...parameters, '--output', 'json'], {
        env: environment,
        maxBuffer: 64 << 20,
        timeout: 60_000,
      });
      return stdout.trim() === '' ? {} : JSON.parse(stdout);
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      child.kill();
      await Promise.race([once(child, 'exit'), wait(10_000).then(() => child.kill('SIGKILL'))]);
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

// biome-ignore lint/suspicious/noExplicitAny: it is changed as text.
export type Template = any;

/** The template of an assembly. */
export function readTemplate(assembly: string): Template {
  const file = readdirSync(assembly).find((name) => name.endsWith('.template.json'))!;
  return JSON.parse(readFileSync(join(assembly, file), 'utf8'));
}

/** Where `cdk bootstrap` makes room for bundles and templates. */
export const assetBucket = `cdk-hnb659fds-assets-${account}-${region}`;

export function objectStore({ endpoint }: EmulatedAws): S3Client {
  const credentials = { accessKeyId: account, secretAccessKey: 'emulated' };
  return new S3Client({ endpoint, region, credentials, forcePathStyle: true });
}

const makeArchives = 'import shutil, sys; [shutil.make_archive(each, "zip", each) for each in sys.argv[1:]]';

/** Uploads the assembly's bundles. */
export async function uploadAssets(aws: EmulatedAws, assembly: string) {
  const s3 = objectStore(aws);
  await s3.send(new CreateBucketCommand({ Bucket: assetBucket }));
  const names = readdirSync(assembly).filter((each) => /^asset\.\w+$/.test(each));
  await promisify(execFile)('python3', ['-c', makeArchives, ...names], { cwd: assembly });
  for (const name of names) {
    const Key = `${name.replace('asset.', '')}.zip`;
    await s3.send(
      new PutObjectCommand({ Bucket: assetBucket, Key, Body: readFileSync(join(assembly, `${name}.zip`)) }),
    );
  }
}
