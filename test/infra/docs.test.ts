import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents } from '../../infra/docs/documents.ts';

const root = join(import.meta.dirname, '../..');
const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  const headings = read(page)
    .replaceAll(/^```.*?^```/gms, '')
    .matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** The targets in a page's links and pictures that do not exist. Addresses are not looked up. */
function brokenLinks(page: string): string[] {
  const targets = [...read(page).matchAll(/\]\(([^)\s]+)\)|src(?:set)?="([^"]+)"/g)].map(
    ([, link, picture]) => link ?? picture!,
  );
  return targets.filter((target) => {
    if (/^\w+:/.test(target)) return false;
    const [path, anchor] = target.split('#') as [string, string?];
    const file = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(root, file))) return true;
    return anchor !== undefined && !anchorsOf(file).includes(anchor);
  });
}

describe('the documents that programs write', () => {
  it('are up to date: `npm run docs` writes them', async () => {
    const outdated: string[] = [];
    for (const { file, render } of documents) {
      if (!existsSync(join(root, file)) || read(file) !== (await render())) outdated.push(file);
    }
    expect(outdated, 'Run `npm run docs` and commit what it writes.').toEqual([]);
  });
});

describe('the pages', () => {
  it.each(pages)('%s links only to what exists', (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it('are all on the map, docs/README.md', () => {
    const listed = [...read('docs/README.md').matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => join('docs', path!));
    const ofShelves = pages.filter(
      (page) => /^docs\/((guides|reference)\/|[^/]+$)/.test(page) && page !== 'docs/README.md',
    );
    expect(listed).toEqual(expect.arrayContaining(ofShelves));
  });
});
