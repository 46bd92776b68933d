import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';

export interface StoredObject {
  readonly content: Buffer;
  readonly contentType: string;
  /** An HTTP date. */
  readonly modified: string;
  readonly version?: string;
  /** Says that the object was deleted. */
  readonly isMarker?: boolean;
}

/** Where the object store keeps its objects; a name is bucket and key. */
export interface ObjectFiles {
  read(name: string): Promise<StoredObject | undefined>;
  write(name: string, object: StoredObject): Promise<void>;
  remove(name: string): Promise<void>;
  /** The names that begin so. */
  list(prefix: string): Promise<string[]>;
}

export function memoryObjects(): ObjectFiles {
  const objects = new Map<string, StoredObject>();
  return {
    read: async (name) => objects.get(name),
    write: async (name, object) => void objects.set(name, object),
    remove: async (name) => void objects.delete(name),
    list: async (prefix) => [...objects.keys()].filter((name) => name.startsWith(prefix)),
  };
}

/**
 * Keeps each object in a file: a line of JSON about it, then its content. Readers see a write whole
 * or not at all.
 */
export function directoryObjects(directory: string): ObjectFiles {
  // Dots are encoded, so that `..` is a name like any other and no directory has the name of a
  // file.
  const pathOf = (name: string) => {
    const segments = name.split('/').map((segment) => encodeURIComponent(segment).replaceAll('.', '%2E'));
    return `${join(directory, ...segments.map((segment) => segment || '%'))}.object`;
  };
  const nameOf = (path: string) =>
    path
      .split(sep)
      .map((segment) => (segment === '%' ? '' : decodeURIComponent(segment)))
      .join('/');
  return {
    async read(name) {
      let file: Buffer;
      try {
        file = await readFile(pathOf(name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
      const end = file.indexOf('\n');
      return { ...JSON.parse(file.toString('utf8', 0, end)), content: file.subarray(end + 1) };
    },
    async write(name, { content, ...about }) {
      const path = pathOf(name);
      await mkdir(dirname(path), { recursive: true });
      const temporary = `${path}.${process.pid}.${Math.random()}`;
      await writeFile(temporary, Buffer.concat([Buffer.from(`${JSON.stringify(about)}\n`), content]));
      await rename(temporary, path);
    },
    remove: (name) => rm(pathOf(name), { force: true }),
    async list(prefix) {
      const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
      const paths = await readdir(dirname(pathOf(`${folder}x`)), { recursive: true }).catch(() => []);
      const files = paths.filter((path) => path.endsWith('.object')).map((path) => path.slice(0, -'.object'.length));
      return files.map((path) => folder + nameOf(path)).filter((name) => name.startsWith(prefix));
    },
  };
}
