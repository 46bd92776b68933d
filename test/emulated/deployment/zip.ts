import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

/** The files of a folder as a ZIP archive (PKWARE's APPNOTE, 4.3), not compressed. */
export function zip(folder: string): Buffer {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const name of names) {
    const content = readFileSync(join(folder, name));
    const path = Buffer.from(name);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt32LE(crc32(content), 10);
    head.writeUInt32LE(content.length, 14);
    head.writeUInt32LE(content.length, 18);
    head.writeUInt16LE(path.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(0o100644 * 0x10000, 6);
    place.writeUInt32LE(offset, 10);
    files.push(Buffer.from('PK\x03\x04'), head, path, content);
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), head, place, path);
    offset += 30 + path.length + content.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(names.length, 4);
  end.writeUInt16LE(names.length, 6);
  end.writeUInt32LE(index.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, index, Buffer.from('PK\x05\x06'), end]);
}
