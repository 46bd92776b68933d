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

/** What the text of a file imports although its room may not. */
function forbidden(file: string, text: string): string[] {
  const room = roomOf(file);
  if (room === undefined) return [];
  return Array.from(text.matchAll(imported), ([, from, alone, dynamic]) => from ?? alone ?? dynamic ?? '').filter(
    (name) => {
      if (name.startsWith('node:')) return false;
      if (!name.startsWith('.')) return !(room.packages?.some((start) => name.startsWith(start)) ?? true);
      const path = normalize(join(dirname(file), name));
      const other = roomOf(path);
      if (other === undefined) return path.startsWith('test/');
      return other !== room && !room.imports.includes(other.path) && !room.imports.includes(path);
    },
  );
}

describe('rooms', () => {
  it('import only what infra/docs/rooms.ts allows', () => {
    const files = globSync(['functions/**/*.ts', 'infra/**/*.ts']);
    expect(files.length).toBeGreaterThan(200);
    const found = files.flatMap((file) =>
      forbidden(file, readFileSync(file, 'utf8')).map((name) => `${file} imports ${name}`),
    );
    expect(found).toEqual([]);
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
    const folders = [...globSync('functions/*/'), ...globSync('infra/*/'), ...globSync('functions/data/*/')];
    expect(folders.map((folder) => folder.replace(/\/$/, '')).sort()).toEqual(
      rooms
        .map(({ path }) => path)
        .filter((path) => path.includes('/'))
        .sort(),
    );
  });
});
