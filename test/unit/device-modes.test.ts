import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { deviceModeNames } from '../../functions/device-modes.ts';

/** The name of a value of `availability`, too: it is looked for in comparisons alone. */
const shared = 'RETIRED';

/** Lines that name a mode, but for the record, and for what sets or shows one: `mode: 'OPEN'`. */
function linesWithModes(lines: readonly string[]): string[] {
  const name = `'(?:${deviceModeNames.filter((each) => each !== shared).join('|')})'`;
  const compared = new RegExp(`([!=]== |case )'${shared}'|'${shared}' [!=]==`);
  const set = new RegExp(`(?:mode: |\\?\\? )${name}`, 'g');
  return lines.filter((line) => compared.test(line) || new RegExp(name).test(line.replaceAll(set, '')));
}

it('device modes are named nowhere else: code asks for a rule of the mode', () => {
  const files = globSync('functions/**/*.{ts,tsx}').filter((file) => file !== 'functions/device-modes.ts');
  const found = files.flatMap((file) =>
    linesWithModes(readFileSync(file, 'utf8').split('\n')).map((line) => `${file}: ${line.trim()}`),
  );
  expect(files.length).toBeGreaterThan(200);
  expect(found).toEqual([]);
});

it.each([
  "if (mode === 'PAUSED') return;",
  "if ('PAUSED' !== mode) return;",
  "case 'CLOSED':",
  "return ['DRAINING', 'OPEN'].includes(mode);",
  "if (mode === 'RETIRED') return;",
])('would be noticed: %s', (line) => {
  expect(linesWithModes([line, "const rules = { mode: 'OPEN' };"])).toEqual([line]);
});
