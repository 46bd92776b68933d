/**
 * The versions of objects, as a bucket that keeps them has them: the current one under the object's
 * name, each former one under the name, a NUL, and its version.
 */

import type { ObjectFiles, StoredObject } from './object-files.ts';

export interface ObjectVersion {
  readonly name: string;
  readonly version: string;
  readonly isLatest: boolean;
  readonly isMarker: boolean;
  readonly bytes: number;
}

const separator = '\0';
let count = 0;

/** Later ones sort behind earlier ones. */
function nextVersion(now: number): string {
  count += 1;
  return `${String(now).padStart(15, '0')}-${String(count).padStart(9, '0')}`;
}

/** Versions sort from the newest to the oldest within their object. */
export async function listVersions(files: ObjectFiles, prefix: string): Promise<ObjectVersion[]> {
  const found = (await files.list(prefix)).map(async (file) => {
    const [name = '', former] = file.split(separator);
    const { version = 'null', isMarker = false, content } = (await files.read(file)) ?? {};
    return { name, version, isLatest: former === undefined, isMarker, bytes: content?.length ?? 0 };
  });
  return (await Promise.all(found)).sort((a, b) =>
    a.name !== b.name
      ? a.name < b.name
        ? -1
        : 1
      : Number(b.isLatest) - Number(a.isLatest) || (a.version < b.version ? 1 : -1),
  );
}

export async function putVersion(files: ObjectFiles, name: string, object: StoredObject, now: number): Promise<void> {
  const before = await files.read(name);
  if (before !== undefined) await files.write(`${name}${separator}${before.version ?? 'null'}`, before);
  await files.write(name, { ...object, version: nextVersion(now) });
}

/** The object is not there any more, but its versions are. */
export async function putMarker(files: ObjectFiles, name: string, now: number): Promise<void> {
  const marker = { content: Buffer.alloc(0), contentType: '', modified: new Date(now).toUTCString(), isMarker: true };
  await putVersion(files, name, marker, now);
}

/** Of what is left of the object, the newest becomes current. */
export async function removeVersion(files: ObjectFiles, name: string, version: string): Promise<void> {
  const current = await files.read(name);
  if ((current?.version ?? 'null') !== version) return files.remove(`${name}${separator}${version}`);
  await files.remove(name);
  const [next] = (await listVersions(files, name)).filter((each) => each.name === name);
  if (next === undefined) return;
  const file = `${name}${separator}${next.version}`;
  const object = await files.read(file);
  if (object !== undefined) await files.write(name, object);
  await files.remove(file);
}
