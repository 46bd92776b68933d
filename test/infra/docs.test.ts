import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents } from '../../infra/docs/documents.ts';

describe('the documents that programs write', () => {
  it('are up to date: `npm run docs` writes them', async () => {
    const outdated: string[] = [];
    for (const { file, render } of documents) {
      const path = join(import.meta.dirname, '../..', file);
      if (!existsSync(path) || readFileSync(path, 'utf8') !== (await render())) outdated.push(file);
    }
    expect(outdated, 'Run `npm run docs` and commit what it writes.').toEqual([]);
  });
});
