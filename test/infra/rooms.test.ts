import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allImports, floorsOf, type Import, importsOf, roomOf, rooms } from '../../infra/docs/rooms.ts';

const imports = allImports();

/** Packages that a file's room does not allow. */
function foreignPackages(some: readonly Import[]): string[] {
  return some
    .filter(({ isPackage, imported }) => isPackage && !imported.startsWith('node:'))
    .filter(
      ({ file, imported }) => rooms[roomOf(file)]?.packages?.some((start) => imported.startsWith(start)) === false,
    )
    .map(({ file, imported }) => `${file} imports ${imported}`);
}

describe('the house', () => {
  it('has floors that only look down: no two folders reach each other, directly or through others', () => {
    expect(imports.length).toBeGreaterThan(1_000);
    expect(floorsOf(imports, dirname).left).toEqual([]);
    expect(floorsOf(imports, roomOf).left).toEqual([]);
  });

  it('notices a look up, at whatever floor', () => {
    const { floors } = floorsOf(imports, roomOf);
    expect(floors.length).toBeGreaterThan(8);
    for (const [from, to] of [
      ['functions/schemas/x.ts', '../data/rows/batches.ts'],
      ['functions/data/dynamodb/x.ts', '../lifecycle/commit-tasks.ts'],
      ['infra/commands/x.ts', '../local/start.ts'],
    ] as const) {
      const back = importsOf(from, `import type {\n  X,\n} from '${to}';\n`);
      expect(floorsOf([...imports, ...back], roomOf).left).toContain(roomOf(from));
    }
  });

  it('never imports tests, and in functions/ nothing of infra/', () => {
    expect(imports.filter(({ imported }) => imported.startsWith('test/'))).toEqual([]);
    const fromFunctions = imports.filter(({ file }) => file.startsWith('functions/'));
    expect(fromFunctions.filter(({ imported }) => imported.startsWith('infra/'))).toEqual([]);
  });

  it('imports only the packages of each room, and allows none in vain', () => {
    expect(foreignPackages(imports)).toEqual([]);
    for (const [path, { packages }] of Object.entries(rooms)) {
      const own = imports.filter(({ file, isPackage }) => isPackage && roomOf(file) === path);
      const unused = packages?.filter((start) => !own.some(({ imported }) => imported.startsWith(start)));
      expect([path, unused ?? []]).toEqual([path, []]);
    }
    const cdk = importsOf('functions/data/rows/x.ts', "import { Stack } from 'aws-cdk-lib';\n");
    expect(foreignPackages(cdk)).toHaveLength(1);
  });

  it('has a room for each folder', () => {
    const folders = globSync(['functions/*/', `functions/{console,data}/*/`, 'infra/*/']);
    const named = folders.map((folder) => folder.replace(/\/$/, '')).filter((folder) => folder !== 'functions/data');
    expect(named.sort()).toEqual(
      Object.keys(rooms)
        .filter((path) => path.includes('/'))
        .sort(),
    );
  });
});
