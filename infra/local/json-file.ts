/** Files that the local stack keeps as JSON. A process that is killed leaves each old or new. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** What the file holds; undefined where there is none. */
export function readJsonFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Puts the value in place of what the file held. A new file gets these permissions. */
export function writeJsonFile(file: string, value: unknown, { mode = 0o666 } = {}): void {
  writeFileSync(`${file}.new`, JSON.stringify(value), { mode });
  renameSync(`${file}.new`, file);
}
