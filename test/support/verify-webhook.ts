/** The TypeScript that the README gives to receivers, taken out of it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Verify = (headers: Record<string, string>, body: Buffer, publicKeys: readonly string[]) => unknown;

const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
const [, code] = /## Webhooks.*?```ts\n(.*?)```/s.exec(readme)!;

/** The message; throws when it is not genuine. */
export const { verify } = (await import(
  /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(stripTypes(code!))}`
)) as { verify: Verify };

function stripTypes(text: string): string {
  return process.getBuiltinModule('node:module').stripTypeScriptTypes(text);
}
