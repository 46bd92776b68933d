import { isObject } from '../../values/json-text.ts';
import type { CallObject } from '../aws/bucket-objects.ts';
import { readResults } from '../batches/batch-results.ts';

/**
 * Larger documents are not read: they count as no shots. Parsed, a document can take 22 times its
 * size, and it is parsed twice.
 */
const maxResultsBytes = 6 * 1024 * 1024;

/**
 * The sum of the counter of a results document: how often the sequence was run. Undefined when
 * there is no such document, or it has no counter of whole numbers. One GET of S3.
 */
export async function countShots(call: CallObject, userId: string, key: string): Promise<number | undefined> {
  const results = await readResults(call, { userId, keys: new Map([['', key]]), maxBytes: maxResultsBytes });
  const text = results?.documents.get('');
  return text === undefined ? undefined : shotsOfDocument(text);
}

/** As countShots, of the text of a results document: a JSON object. */
export function shotsOfDocument(text: string): number | undefined {
  const { counter } = JSON.parse(text);
  const counts = isObject(counter) ? Object.values(counter) : [];
  if (counts.length === 0 || !counts.every(isCount)) return undefined;
  const shots = counts.reduce((sum, count) => sum + count, 0);
  return isCount(shots) ? shots : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
