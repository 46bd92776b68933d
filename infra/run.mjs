/**
 * `node infra/run.mjs FILE …` runs FILE, once it is certain that this Node can: an older one fails
 * in words of its own.
 */

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const neededMajor = 24;

if (Number.parseInt(process.versions.node, 10) < neededMajor) {
  console.error(
    `This needs Node ${neededMajor}, and runs on ${process.versions.node}. npm ci installs Node ${neededMajor} into node_modules unless install scripts are off: run "npm rebuild --ignore-scripts=false node esbuild".`,
  );
  process.exit(1);
}
const [file] = process.argv.splice(2, 1);
process.argv[1] = resolve(file);
await import(pathToFileURL(process.argv[1]).href);
