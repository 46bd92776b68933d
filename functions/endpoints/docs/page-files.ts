import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname } from 'node:path';
import { gzipSync } from 'node:zlib';

/** A file that the page loads. */
export interface PageFile {
  readonly name: string;
  readonly mediaType: string;
  /** Its content, gzipped, as base64. It is made once. */
  readonly gzipped: () => string;
  /** Of its content. */
  readonly hash: string;
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
};

/**
 * The files by their names, in the order given. Throws when one does not exist, or is of a kind
 * that the page does not load.
 */
export function readPageFiles(files: readonly string[]): ReadonlyMap<string, PageFile> {
  const { resolve } = createRequire(import.meta.url);
  return new Map(
    files.map((file) => {
      const mediaType = mediaTypes[extname(file)];
      if (mediaType === undefined) throw new Error(`The page does not load files like ${file}.`);
      const text = readFileSync(resolve(file), 'utf8');
      const name = basename(file);
      let gzipped: string | undefined;
      return [
        name,
        { name, mediaType, gzipped: () => (gzipped ??= gzipSync(text).toString('base64')), hash: hashOf(text) },
      ];
    }),
  );
}

/** Distinguishes contents: 96 bits of SHA-256. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
