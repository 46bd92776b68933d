/**
 * The snippets of the OpenAPI document, as a reader copies them. Those in Python are run by
 * `test/e2e/clients`.
 */

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleAddress } from '../../infra/openapi/sample-request.ts';
import document from '../../openapi.json' with { type: 'json' };
import { oneOrAll } from '../support/depth.ts';
import { call, jobUpdated, newUser, sendEvents, stack } from '../support/local-stack.ts';
import { sequenceWith } from '../support/sequence-text.ts';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly 'x-codeSamples': readonly { readonly lang: string; readonly source: string }[];
}

const run = promisify(execFile);
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods) as unknown as Operation[]);
/** Operations without a token or with a user's: devices and operators have tokens of their own. */
const ofUsers = operations.filter(({ tags }) => !/^For (devices|operators)$/.test(tags[0]!));
const exampleId = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';

/** How a snippet is run, by its language. */
const runs: Record<string, (source: string, token: string) => Promise<{ stdout: string }>> = {
  Shell: (source, TOKEN) => {
    const failing = 'curl() { command curl --silent --show-error --fail-with-body "$@"; }';
    return run('bash', ['-euc', `${failing}\n${source}`], { env: { ...process.env, TOKEN } });
  },
  async TypeScript(source, TOKEN) {
    const file = join(directory, 'snippet.mts');
    await writeFile(file, source);
    return run(process.execPath, ['--no-warnings', file], { env: { ...process.env, TOKEN } });
  },
};

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'snippets-'));
});
afterAll(() => rm(directory, { recursive: true }));

/**
 * An open batch of a user of its own, with a failed job and one that waits; closed or canceled
 * where the operation asks for that.
 */
async function makeBatch(operationId: string) {
  const { userId, token } = await newUser();
  const body = JSON.stringify({
    project_id: exampleId,
    device_type: 'EMU_MPS',
    open: true,
    // No server listens there.
    webhook: 'http://127.0.0.1:9/',
    sequence_builder: sequenceWith('omega'),
    jobs: [1, 2].map((omega) => ({ runs: 100, variables: { omega } })),
  });
  const { data: batch } = (await call('/api/v1/batches', { method: 'POST', token, body })).body;
  const [failed, waiting] = batch.jobs;
  const end_timestamp = new Date().toISOString();
  await sendEvents(jobUpdated(userId, failed.id, { status: 'ERROR', errors: ['No register.'], end_timestamp }));
  const before = { rebatch: 'complete', eraseBatch: 'cancel' }[operationId];
  if (before !== undefined) await call(`/api/v2/batches/${batch.id}/${before}`, { method: 'PATCH', token });
  return { token, ids: { batch_id: batch.id, job_id: waiting.id } as Record<string, string> };
}

const languages = Object.keys(runs);

describe.each(languages)('the snippets in %s', (lang) => {
  const sourceOf = (operation: Operation) =>
    operation['x-codeSamples'].find((sample) => sample.lang === lang)!.source.replace(sampleAddress, stack.baseUrl);

  // In a quick run each operation is tried in one of the languages, in the other with another seed.
  const tried = ofUsers.filter((_, at) => oneOrAll(languages, at).includes(lang));

  it.each(tried)('$operationId works', async (operation) => {
    const { token, ids } = await makeBatch(operation.operationId);
    const id = operation.parameters.map(({ name }) => ids[name]).find((own) => own !== undefined);
    const { stdout } = await runs[lang]!(sourceOf(operation).replace(exampleId, id ?? exampleId), token);
    expect(stdout).toMatch(lang === 'Shell' ? /"status":"success"|"openapi":/ : /status: 'success'|openapi:/);
  });

  it('names no address but the API', () => {
    for (const operation of operations) {
      const addresses = sourceOf(operation).match(/https?:\/\/[^/'"]+/g);
      expect(addresses, operation.operationId).toEqual([stack.baseUrl]);
    }
  });
});
