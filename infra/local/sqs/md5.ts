import { createHash } from 'node:crypto';

/** The checksum that SQS sends with every body. */
export function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
