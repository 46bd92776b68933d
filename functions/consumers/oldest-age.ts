/**
 * Seconds since the first of these times, which are texts of milliseconds since 1970, as SQS has
 * them. Never negative.
 */
export function oldestAge(sentTimes: readonly string[]): number {
  const oldest = Math.min(...sentTimes.map(Number));
  return Math.max(0, Math.round((Date.now() - oldest) / 1000));
}
