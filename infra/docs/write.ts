/** Writes every generated document; run by `npm run docs`. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { documents } from './documents.ts';

for (const { file, render } of documents) {
  const path = join(import.meta.dirname, '../..', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, await render());
}
