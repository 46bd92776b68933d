import { isObject } from '../../values/json-text.ts';
import type { readResults } from '../batches/batch-results.ts';

/** Larger documents are not read: they count as no shots. */
const maxResultsBytes = 16 * 1024 * 1024;

/**
 * The function that sums the counter of a results document: how often the sequence was run.
 * Undefined where there is no such document, or no counter of whole numbers in it. One GET of S3.
 */
export function countShots(
  read: ReturnType<typeof readResults>,
): (userId: string, key: string) => Promise<number | undefined> {
  return async (userId, key) => {
    const results = await read(userId, new Map([['', key]]), maxResultsBytes);
    const text = results?.documents.get('');
    const counter = text === undefined ? undefined : JSON.parse(text).counter;
    const counts = isObject(counter) ? Object.values(counter) : [];
    if (counts.length === 0 || !counts.every(isCount)) return undefined;
    const shots = counts.reduce((sum, count) => sum + count, 0);
    return isCount(shots) ? shots : undefined;
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
