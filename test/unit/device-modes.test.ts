import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { deviceModeNames } from '../../functions/device-modes.ts';

it('device modes are compared by name nowhere: code asks for a rule of the mode', () => {
  const compared = new RegExp(`([!=]== |case )'(${deviceModeNames.join('|')})'`);
  const found = globSync('functions/**/*.{ts,tsx}').flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, at) => (compared.test(line) ? [`${file}:${at + 1}`] : [])),
  );
  expect(found).toEqual([]);
});
