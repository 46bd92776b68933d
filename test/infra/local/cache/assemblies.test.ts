import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { sources } from '../../../../infra/local/cache/assemblies.ts';
import { synthesizeWithBundles } from '../../../support/synthesize.ts';

// A project of its own, so that its sources and its assemblies can be changed.
const project = mkdtempSync(join(tmpdir(), 'assemblies-'));
const root = join(import.meta.dirname, '../../../..');
afterAll(() => rmSync(project, { recursive: true }));

function write(path: string, content: string) {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), content);
}

write('functions/endpoints/list.ts', 'one');
write('infra/app.ts', 'app');
write('package-lock.json', '{}');
cpSync(join(root, 'infra/local/cache/assemblies.ts'), join(project, 'infra/local/cache/assemblies.ts'), {
  recursive: true,
});
const copy: typeof import('../../../../infra/local/cache/assemblies.ts') = await import(
  join(project, 'infra/local/cache/assemblies.ts')
);
const { assemblyKey, findAssembly, findOrMakeAssemblies, keepAssembly, newAssembly } = copy;
const folder = join(project, 'node_modules/.cache/assemblies');

/** Keeps an assembly with two files. */
function keep(key: string): string {
  const directory = newAssembly();
  mkdirSync(join(directory, 'asset.1'));
  writeFileSync(join(directory, 'asset.1/index.mjs'), 'the bundle');
  writeFileSync(join(directory, 'stack.template.json'), '{}');
  return keepAssembly(key, directory);
}

it('has another key for other sources and values, and the same key for the same', () => {
  const keys = [assemblyKey({ stage: 'dev' })];
  expect(assemblyKey({ stage: 'dev' })).toBe(keys[0]);
  keys.push(assemblyKey({ stage: 'prod' }));
  const changes: [path: string, content: string][] = [
    ['functions/endpoints/list.ts', 'two'],
    ['functions/endpoints/list.js', ''],
    ['infra/app.ts', 'another app'],
    ['package-lock.json', '{"packages":{}}'],
    ['node_modules/.package-lock.json', '{}'],
    ['cdk.json', '{}'],
    ['openapi.json', '{}'],
    ['package.json', '{}'],
    ['tsconfig.json', '{}'],
  ];
  for (const [path, content] of changes) {
    write(path, content);
    keys.push(assemblyKey({ stage: 'dev' }));
  }
  rmSync(join(project, 'functions/endpoints/list.ts'));
  keys.push(assemblyKey({ stage: 'dev' }));
  expect(new Set(keys).size).toBe(keys.length);
});

// Synthesizing takes long where it has not been done yet: longer than a test may.
const { directory } = await synthesizeWithBundles();
const read = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('index.mjs.map'))
  .flatMap((name) => {
    const { sources: named } = JSON.parse(readFileSync(join(directory, name), 'utf8')) as { sources: string[] };
    return named.map((source) => relative(root, resolve(directory, dirname(name), source)));
  });

it('covers every file that a bundle is made from', () => {
  expect(read).toContain('functions/endpoints/batches/list-batches.ts');
  const covered = [...sources, 'node_modules'];
  expect(read.filter((path) => !covered.some((each) => path === each || path.startsWith(`${each}/`)))).toEqual([]);
});

it('finds what was kept, and leaves nothing else behind', () => {
  expect(findAssembly('unknown')).toBeUndefined();
  const kept = keep('kept');
  expect(findAssembly('kept')).toBe(kept);
  expect(keep('kept')).toBe(kept);
  expect(readdirSync(folder)).toEqual(['kept']);
});

it('makes together what is not there, and again what was changed meanwhile', async () => {
  const [one, other, third] = [{ stage: 'one' }, { stage: 'other' }, { stage: 'third' }];
  const made: (typeof one)[][] = [];
  const make: Parameters<typeof findOrMakeAssemblies<typeof one>>[1] = async (missing) => {
    made.push(missing.map(({ values }) => values));
    for (const { values, directory } of missing) writeFileSync(join(directory, 'values.json'), JSON.stringify(values));
    if (made.length === 2) write('infra/app.ts', 'changed while it was read');
  };
  await findOrMakeAssemblies([one], make);
  const directories = await findOrMakeAssemblies([one, other, third], make);
  expect(made).toEqual([[one], [other, third], [one, other, third]]);
  const contents = directories.map((directory) => JSON.parse(readFileSync(join(directory, 'values.json'), 'utf8')));
  expect(contents).toEqual([one, other, third]);
  expect(directories.map((directory) => relative(folder, directory))).toEqual([one, other, third].map(assemblyKey));
});

it('leaves nothing of what could not be made', async () => {
  const before = readdirSync(folder);
  const failing = findOrMakeAssemblies([{ stage: 'failing' }], () =>
    Promise.reject(new Error('It does not synthesize.')),
  );
  await expect(failing).rejects.toThrow('It does not synthesize.');
  expect(readdirSync(folder)).toEqual(before);
});

it.each<[what: string, damage: (directory: string) => void]>([
  ['another content', (directory) => writeFileSync(join(directory, 'asset.1/index.mjs'), 'the bundlE')],
  ['a cut file', (directory) => writeFileSync(join(directory, 'asset.1/index.mjs'), 'the')],
  ['a file less', (directory) => rmSync(join(directory, 'stack.template.json'))],
  ['a file more', (directory) => writeFileSync(join(directory, 'asset.1/other.mjs'), '')],
  ['no digest', (directory) => rmSync(join(directory, 'digest.json'))],
  ['another digest', (directory) => writeFileSync(join(directory, 'digest.json'), 'x')],
])('does not find an assembly with %s, and replaces it', (what, damage) => {
  const kept = keep(what);
  damage(kept);
  expect(findAssembly(what)).toBeUndefined();
  expect(keep(what)).toBe(kept);
  expect(findAssembly(what)).toBe(kept);
});

it('removes what has not been used for a day, but for the ten used last', () => {
  const made = Array.from({ length: 14 }, (_, number) => keep(`old-${number}`));
  const old = Date.now() / 1000 - 25 * 3600;
  for (const [age, directory] of made.entries()) utimesSync(directory, old - age, old - age);
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('old-')) rmSync(join(folder, name), { recursive: true });
  }
  expect(findAssembly('old-13')).toBe(made[13]);
  keep('new');
  const left = made.filter(existsSync);
  expect(left).toEqual([...made.slice(0, 8), made[13]]);
});
