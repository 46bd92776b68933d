/** Where results lie in the bucket: the one place that says so. */

/** Keys of all results begin with it; functions may read below it, and nowhere else. */
export const resultsPrefix = 'results/';

/** Keys of one user's results begin with it. */
export function userResultsPrefix(userId: string): string {
  return `${resultsPrefix}${userId}/`;
}

/** Whether the key lies below the user's own prefix. A link is signed for such keys only. */
export function isResultsKeyOf(userId: string, key: string): boolean {
  const prefix = userResultsPrefix(userId);
  return key.startsWith(prefix) && key.length > prefix.length;
}
