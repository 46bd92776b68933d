/** The TypeScript that docs/guides/webhooks.md gives to receivers, taken out of it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Verify = (headers: Record<string, string>, body: Buffer, publicKeys: readonly string[]) => unknown;

const page = readFileSync(join(import.meta.dirname, '../../docs/guides/webhooks.md'), 'utf8');
const [, code] = /```ts\n(.*?)```/s.exec(page)!;

/** The message; throws when it is not genuine. */
export const { verify } = (await import(
  /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(stripTypes(code!))}`
)) as { verify: Verify };

function stripTypes(text: string): string {
  return process.getBuiltinModule('node:module').stripTypeScriptTypes(text);
}
