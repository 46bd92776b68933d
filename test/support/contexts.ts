/**
 * Contexts of infra/app.ts (`-c name=value`) that tests synthesize the stack with, and their setup:
 * all are made in one process, beside whatever else starts.
 */

import { spawn } from 'node:child_process';
import { largestContext } from '../../infra/docs/quotas.ts';

export const issuer = 'https://issuer.example.org/realms/lab/';
export const jwksUri = 'https://keys.example.org/all.json';
export const restored = '20261122T091500Z';

export const contexts = {
  none: {},
  withIssuer: { issuer, audience: 'quantum', consoleClientId: 'lab-console' },
  // Where keys are and which tables there are decide about other resources: one shows both.
  moved: {
    issuer,
    audience: 'quantum',
    jwksUri,
    settings: { dev: { tables: restored }, prod: { tables: 'of the other stage' } },
  },
  withDevices: {
    stage: 'prod',
    deletionProtection: 'false',
    resultsDays: '30',
    devices: 'FRESNEL,EMU_MPS',
    projects: '5D6A3F0E6F2B4C0E9A516D3C6F6F1F2A Rydberg atoms,b0000000-0000-0000-0000-00000000000b',
    concurrency: 'small',
  },
  withoutDevices: { devices: '' },
  largest: largestContext,
};

/** Does not wait for it: a test that comes first makes its own, and shows what is wrong with it. */
export function setup() {
  const script = `
    import { contexts } from './contexts.ts';
    import { prepareSyntheses } from './synthesize.ts';
    await prepareSyntheses(Object.values(contexts));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: import.meta.dirname });
  const ended = new Promise((resolve) => child.once('close', resolve));
  return () => ended;
}
