import { expect, it } from 'vitest';
import { isSilent } from '../../../functions/console/views/silent-worker.ts';

it.each([
  [0, false],
  [89, false],
  [90, false],
  [91, true],
  // The clock of the browser is behind.
  [-30, false],
])('a worker that was seen %d seconds ago: silent is %s', (seconds, silent) => {
  const now = Date.parse('2026-11-20T10:00:00Z');
  expect(isSilent({ seen_at: new Date(now - seconds * 1_000).toISOString() }, now)).toBe(silent);
});
