/**
 * Writes docs/dashboard.svg; run by `npm run dashboard`. A test compares the file with the picture.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthesize } from '../local/template/synthesize.ts';
import { readDashboard } from './dashboard-body.ts';
import { drawDashboard } from './picture.ts';

const directory = mkdtempSync(join(tmpdir(), 'synth-'));
try {
  const { template } = await synthesize(directory, {
    'aws:cdk:enable-path-metadata': true,
    'aws:cdk:bundling-stacks': [],
  });
  writeFileSync(join(import.meta.dirname, '../../docs/dashboard.svg'), drawDashboard(readDashboard(template)));
} finally {
  rmSync(directory, { recursive: true });
}
