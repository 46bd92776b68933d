import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { withSourcePositions } from '../../../functions/runtime/source-positions.ts';

const directory = mkdtempSync(join(tmpdir(), 'source-positions-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** The address of a bundle that has this source map, if any. */
function bundle(name: string, map?: string): string {
  const file = join(directory, name);
  if (map !== undefined) writeFileSync(`${file}.map`, map);
  return pathToFileURL(file).href;
}

/** The second line's first column is line 7, column 3 of the source. */
const map = JSON.stringify({ version: 3, sources: ['list.ts'], names: [], mappings: ';AAMEA' });

describe('withSourcePositions', () => {
  it('translates the positions in a bundle that has a source map', () => {
    const file = bundle('mapped.mjs', map);
    expect(withSourcePositions(`Error: x\n    at a (${file}:2:1)\n    at ${file}:2:1`)).toBe(
      'Error: x\n    at a (list.ts:7:3)\n    at list.ts:7:3',
    );
  });

  it.each([
    ['no map', undefined],
    ['a map that is none', '{'],
    ['a map that knows no such position', '{"version":3,"sources":[],"names":[],"mappings":""}'],
  ])('leaves a stack alone whose bundle has %s', (name, content) => {
    const stack = `Error: x\n    at a (${bundle(`${name}.mjs`.replaceAll(' ', '-'), content)}:2:1)\n    at node:internal/b:1:2`;
    expect(withSourcePositions(stack)).toBe(stack);
  });
});
