/**
 * Files of integration tests run one after the other in the same process, and share the packages
 * that they import. Each gets the project's own modules anew, and the environment of the process as
 * it was.
 *
 * Functions wait for DynamoDB Local until it answers, however busy the machine is. A test of what
 * they do about silence calls `useOwnTimeouts` before it loads them.
 */

import { vi } from 'vitest';
import { usePatience } from './own-time.ts';

const key = Symbol.for('the environment before the first file');
const shared = globalThis as { [key]?: NodeJS.ProcessEnv };
shared[key] ??= { ...process.env };

vi.resetModules();
vi.useRealTimers();
vi.restoreAllMocks();
vi.unstubAllEnvs();
for (const name of Object.keys(process.env)) {
  if (!(name in shared[key]) && !name.startsWith('VITEST')) delete process.env[name];
}
for (const [name, value] of Object.entries(shared[key])) if (!name.startsWith('VITEST')) process.env[name] = value;
usePatience();
