/**
 * Fails when a comment is wider than 100 characters, because Biome's formatter leaves comments
 * alone, or when a text has a form that plain English does without. Folders given as parameters
 * have the words of their comments read, too.
 */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const maxWidth = 100;

/** Directives must stay on one line. */
const directive = /^\/\/ (biome-ignore|Stryker)/;

/** Forms to avoid, and what is meant by them. */
const forms: readonly (readonly [form: RegExp, instead: string])[] = [
  [/\b(told|tells?)\b/gi, 'report, show, say'],
  [/\bwhoever\b/gi, 'a user who, the caller'],
  [/\b(those|the ones)\s+(of|that|who|which)\b/gi, 'name the thing again'],
  [/\bso\s+(many|much)\b/gi, 'the number or amount'],
  [/\bfor\s+ever\b/gi, 'until when'],
  [/\bof\s+which\b/gi, 'a second sentence'],
  [/\bstands?\b(?!-)/gi, 'is'],
  [/\b(nobody|anybody|somebody)\b/gi, 'no user, no worker'],
  [/\bsaid\b/gi, 'who or what says it'],
  [/[:;,]\s+nor\b/gi, 'a sentence with "also not", or a list'],
];

/** Where the forms are refused, beside the descriptions in openapi.json: pages, and comments. */
const pages = ['docs/*.md', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const folders: readonly string[] = process.argv.slice(2);

interface Text {
  readonly place: string;
  readonly text: string;
}

const filesOf = (...patterns: readonly string[]) =>
  execFileSync('git', ['ls-files', ...patterns], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);

function linesOf(file: string): Text[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((text, at) => ({ place: `${file}:${at + 1}`, text }));
}

const isComment = ({ text }: Text) => /^\s*(\/\/|\/\*|\*|# )/.test(text);

/** The texts of a document that people read: not its examples, names and patterns. */
function* descriptions(value: unknown, place: string): Generator<Text> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const isText = (name === 'description' || name === 'summary') && typeof member === 'string';
    if (isText) yield { place: `${place}.${name}`, text: member };
    else if (name !== 'example' && name !== 'examples') yield* descriptions(member, `${place}.${name}`);
  }
}

const code = filesOf('*.ts', '*.tsx', '*.js', '*.mjs', '*.css', '*.py').flatMap(linesOf).filter(isComment);
const tooWide = code.filter(({ text }) => text.length > maxWidth && !directive.test(text.trim()));

const document: unknown = JSON.parse(readFileSync('openapi.json', 'utf8'));
const read = [
  ...filesOf(...pages).map((place) => ({ place, text: readFileSync(place, 'utf8') })),
  ...descriptions(document, 'openapi.json'),
  ...code.filter(({ place }) => folders.some((folder) => place.startsWith(folder))),
];
const unplain = read.flatMap(({ place, text }) =>
  forms.flatMap(([form, instead]) =>
    Array.from(text.matchAll(form), ({ 0: found, index }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${place}, line ${line}: "${found.replaceAll(/\s+/g, ' ')}" (instead: ${instead})`;
    }),
  ),
);

if (tooWide.length > 0) {
  const places = tooWide.map(({ place, text }) => `${place}: ${text.length} characters`);
  console.error(`Wrap these comments at ${maxWidth} characters:\n${places.join('\n')}`);
}
if (unplain.length > 0) console.error(`Say these ${unplain.length} in plain English:\n${unplain.join('\n')}`);
if (tooWide.length + unplain.length > 0) process.exitCode = 1;
