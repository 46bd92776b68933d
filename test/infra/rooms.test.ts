import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Room, rooms } from '../../infra/docs/rooms.ts';

const imported = / from '([^']+)'(?: with \{.*\})?;$|^import '([^']+)';$|\bimport\('([^']+)'\)/gm;

function roomOf(file: string): Room | undefined {
  return rooms
    .filter(({ path }) => file.startsWith(`${path}/`))
    .sort((a, b) => b.path.length - a.path.length)
    .at(0);
}

interface Import {
  readonly file: string;
  readonly name: string;
  /** The entries of the file's room that allow it, or itself where it needs none. */
  readonly allowedBy: readonly string[];
}

/** What the text of a file imports. */
function importsOf(file: string, text: string): Import[] {
  const room = roomOf(file);
  if (room === undefined) return [];
  return Array.from(text.matchAll(imported), ([, from, alone, dynamic]) => {
    const name = from ?? alone ?? dynamic ?? '';
    return { file, name, allowedBy: allowedBy(room, file, name) };
  });
}

function allowedBy(room: Room, file: string, name: string): readonly string[] {
  if (name.startsWith('node:')) return [name];
  if (!name.startsWith('.')) return room.packages?.filter((start) => name.startsWith(start)) ?? [name];
  const path = normalize(join(dirname(file), name));
  const other = roomOf(path);
  if (other === undefined) return path.startsWith('test/') ? [] : [path];
  return other === room ? [path] : room.imports.filter((allowed) => allowed === other.path || allowed === path);
}

const forbidden = (file: string, text: string) => importsOf(file, text).filter((each) => each.allowedBy.length === 0);

/**
 * The folders that are left when, from below, each goes that imports none of the others that are
 * left: those that reach each other, and what is above them.
 */
function withoutFloor(imports: readonly Import[]): string[] {
  const pairs = imports
    .filter(({ name }) => name.startsWith('.'))
    .map(({ file, name }) => [dirname(file), dirname(normalize(join(dirname(file), name)))] as const);
  const left = new Set(pairs.flat());
  for (;;) {
    const bound = new Set(pairs.filter(([from, to]) => from !== to && left.has(to)).map(([from]) => from));
    const floor = left.difference(bound);
    if (floor.size === 0) return [...left].sort();
    for (const folder of floor) left.delete(folder);
  }
}

describe('rooms', () => {
  const files = globSync(['functions/**/*.{ts,tsx}', 'infra/**/*.ts']);
  const imports = files.flatMap((file) => importsOf(file, readFileSync(file, 'utf8')));

  it('import only what infra/docs/rooms.ts allows', () => {
    expect(files.length).toBeGreaterThan(200);
    const found = imports.filter((each) => each.allowedBy.length === 0);
    expect(found.map(({ file, name }) => `${file} imports ${name}`)).toEqual([]);
  });

  it('allow nothing that no file imports', () => {
    const unused = rooms.flatMap((room) => {
      const used = new Set(imports.filter(({ file }) => roomOf(file) === room).flatMap((each) => each.allowedBy));
      const allowed = new Set([...room.imports, ...(room.packages ?? [])]);
      return [...allowed.difference(used)].map((entry) => `${room.path} need not import ${entry}`);
    });
    expect(unused).toEqual([]);
  });

  it('have floors: no two folders of infra/ reach each other, directly or through others', () => {
    const own = imports.filter(({ file }) => file.startsWith('infra/'));
    expect(withoutFloor(own)).toEqual([]);
    const back = { file: 'infra/commands/x.ts', name: '../local/start.ts', allowedBy: [] };
    expect(withoutFloor([...own, back])).toContain('infra/commands');
  });

  it.each(rooms.map(({ path }) => [path]))('notice a forbidden import in %s', (path) => {
    const up = '../'.repeat(path.split('/').length);
    const test = `import { seed } from '${up}test/support/seed.ts';\n`;
    const smoke = `import type {\n  Check,\n} from '${up}infra/smoke/checks.ts';\n`;
    expect(forbidden(`${path}/x.ts`, test)).toHaveLength(1);
    expect(forbidden(`${path}/x.ts`, smoke)).toHaveLength(path === 'infra/smoke' ? 0 : 1);
    const isFree = rooms.find((room) => room.path === path)?.packages === undefined;
    expect(forbidden(`${path}/x.ts`, "import { Stack } from 'aws-cdk-lib';\n")).toHaveLength(isFree ? 0 : 1);
  });

  it('know all folders beside them', () => {
    const folders = globSync(['functions/*/', 'functions/{console,data}/*/', 'infra/*/']);
    expect(folders.map((folder) => folder.replace(/\/$/, '')).sort()).toEqual(
      rooms
        .map(({ path }) => path)
        .filter((path) => path.includes('/'))
        .sort(),
    );
  });
});
