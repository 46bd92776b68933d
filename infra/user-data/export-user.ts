import { createHash } from 'node:crypto';
import { mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import type { TableName } from '../../functions/tables.ts';
import { SetupProblem } from '../commands/setup-problem.ts';
import { findResults } from './erase-user.ts';
import type { StackData } from './stack-data.ts';
import { findItems, userItems } from './user-items.ts';

/**
 * Writes everything that is stored of a user into an empty folder, and returns how many files:
 * - `tables/NAME.jsonl`: the items of each table, a line of JSON each, bytes as base64;
 * - `sequences/ID.json`: the sequences, under the ids of their batches and jobs;
 *   `sequences/ID#variables.json` and `sequences/ID#configuration.json`: what else is long;
 * - `results/…`: the results as they are now, under their keys, encoded as in a URL; `..` is
 *   `_..`, for an id may have it;
 * - `SHA256SUMS`: the checksums of all these, for `sha256sum --check`.
 * Messages that wait in queues are not in it. Throws SetupProblem where the folder is not empty.
 */
export async function exportUser(data: StackData, userId: string, directory: string): Promise<number> {
  await mkdir(directory, { recursive: true });
  if ((await readdir(directory)).length > 0) throw new SetupProblem(`The folder ${directory} is not empty.`);
  const sums: string[] = [];
  const writeOne = async (name: string, content: Uint8Array | string) => {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
    sums.push(`${createHash('sha256').update(content).digest('hex')}  ${name}\n`);
  };
  for (const table of Object.keys(userItems) as TableName[]) {
    const name = `tables/${table}.jsonl`;
    const hash = createHash('sha256');
    await mkdir(join(directory, 'tables'), { recursive: true });
    await using file = await open(join(directory, name), 'w');
    for await (const items of findItems(data, table, userId)) {
      for (const item of items) {
        const line = `${JSON.stringify(item, plain)}\n`;
        hash.update(line);
        await file.write(line);
        if (table === 'Sequences') await writeOne(`sequences/${item.id}.json`, gunzipSync(item.v));
      }
    }
    sums.push(`${hash.digest('hex')}  ${name}\n`);
  }
  for await (const versions of findResults(data, userId)) {
    for (const { Key = '', IsLatest } of versions.filter((version) => 'Size' in version)) {
      if (!IsLatest) continue;
      const { Body } = await data.results.client.send(new GetObjectCommand({ Bucket: data.results.name, Key }));
      const path = Key.split('/').map((segment) => encodeURIComponent(segment).replace(/^\.+$/, '_$&'));
      await writeOne(path.join('/'), await Body!.transformToByteArray());
    }
  }
  await writeFile(join(directory, 'SHA256SUMS'), sums.join(''));
  return sums.length;
}

/**
 * For JSON.stringify: bytes as base64, integers beyond 2^53 as text. A Buffer is JSON before it is
 * `value`.
 */
function plain(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const bytes = this[name];
  if (bytes instanceof Uint8Array) return Buffer.from(bytes).toString('base64');
  return typeof value === 'bigint' ? String(value) : value;
}
