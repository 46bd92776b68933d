/** What a `--data` folder says about itself: its format, and the demo data that it was given. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readJsonFile, writeJsonFile } from '../../commands/json-file.ts';
import { SetupProblem } from '../../commands/setup-problem.ts';

/** One higher with each change after which a start could not go on with an older folder. */
const format = 2;

/** How much demo data to make. */
export interface DemoDataSize {
  /** Of the first account. The second has a tenth of them, two people of a project a fifth each. */
  readonly batches: number;
  /** On average; one batch has 300, few of them done. */
  readonly jobsPerBatch: number;
}

/** How far the demo data was loaded. */
interface DemoProgress extends DemoDataSize {
  /** The time that the data was made for, in milliseconds since 1970. */
  readonly now: number;
  /** How many events each account was sent, in the accounts' order; undefined: all of them. */
  readonly sent?: readonly number[];
}

export interface DataFolder {
  /** Undefined before the first load. */
  readonly demo: DemoProgress | undefined;
  /** Outlives the process as soon as it returns. */
  keepDemo(demo: DemoProgress): void;
}

/**
 * Opens a folder that is new or has this format. Without a folder, keeps the same in memory. Throws
 * SetupProblem for a folder of any other format.
 */
export function openDataFolder(folder: string | undefined): DataFolder {
  if (folder === undefined) return { demo: undefined, keepDemo: () => undefined };
  const file = join(folder, 'folder.json');
  const found = readFolder(file);
  if (found === undefined ? existsSync(join(folder, 'dynamodb')) : found.format !== format) {
    const version = found?.format === undefined ? 'no format' : `format ${found.format}`;
    throw new SetupProblem(
      `The folder ${folder} was written by another version of the local stack: it has ${version}, this version reads format ${format}. Start with a new folder.`,
    );
  }
  if (found === undefined) writeJsonFile(file, { format });
  return { demo: found?.demo, keepDemo: (demo) => writeJsonFile(file, { format, demo }) };
}

interface StoredFolder {
  readonly format?: unknown;
  readonly demo?: DemoProgress;
}

/** Undefined where there is no such file. A damaged one has no format that is known. */
function readFolder(file: string): StoredFolder | undefined {
  try {
    const found = readJsonFile<StoredFolder | null>(file);
    return found === null ? {} : found;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return {};
  }
}
