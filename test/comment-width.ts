/** Fails when a comment is wider than 100 characters: Biome's formatter leaves comments alone. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const maxWidth = 100;

/** Directives must stay on one line. */
const directive = /^\/\/ (biome-ignore|Stryker)/;

const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.js', '*.mjs', '*.css', '*.py'], { encoding: 'utf8' })
  .trim()
  .split('\n');
const tooWide = files.flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, at) => {
      const text = line.trim();
      const isComment = /^(\/\/|\/\*|\*|# )/.test(text) && !directive.test(text);
      return isComment && line.length > maxWidth ? [`${file}:${at + 1}: ${line.length} characters`] : [];
    }),
);
if (tooWide.length > 0) {
  console.error(`Wrap these comments at ${maxWidth} characters:\n${tooWide.join('\n')}`);
  process.exitCode = 1;
}
