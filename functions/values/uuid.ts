/** UUIDs of any variant and version. The canonical form is lower case with hyphens. */

import { createHash } from 'node:crypto';

const digits = '[0-9a-fA-F]';
const hyphenated = `${digits}{8}-${digits}{4}-${digits}{4}-${digits}{4}-${digits}{12}`;
const eitherForm = `(${hyphenated}|${digits}{32})`;

/** Every accepted spelling: any case, with or without hyphens, in braces, after `urn:uuid:`. */
export const uuidPattern = `^([uU][rR][nN]:[uU][uU][iI][dD]:)?(${eitherForm}|\\{${eitherForm}\\})$`;

const spelling = new RegExp(uuidPattern);

/** The canonical form, or undefined when it is no UUID. */
export function parseUuid(text: string): string | undefined {
  return spelling.test(text) ? formatUuid(text.replace(/urn:uuid:|[{}-]/gi, '').toLowerCase()) : undefined;
}

/** A UUID of version 8 (RFC 9562) that follows from a JSON value: the same value has the same. */
export function derivedUuid(value: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(value)).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return formatUuid(hash.toString('hex', 0, 16));
}

/** The canonical form of 32 lower-case hexadecimal digits. */
export function formatUuid(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}
