/** Errors of AWS that say: not now. */
const contention = new Set([
  'ProvisionedThroughputExceeded',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'SlowDown',
  'Throttling',
  'ThrottlingError',
  'ThrottlingException',
  'TransactionConflict',
  'TransactionConflictException',
  'TransactionInProgressException',
]);

/**
 * Whether a call failed because DynamoDB throttled it or another transaction was at the same items: the same call may
 * succeed later. A canceled transaction counts when every reason it gives is of that kind.
 */
export function isContention(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name !== 'TransactionCanceledException') return contention.has(error.name);
  const codes = cancellationCodes(error);
  return codes.length > 0 && codes.every((code) => contention.has(code));
}

/** Why a transaction was canceled: the codes of those of its parts that were the reason. */
export function cancellationCodes(error: Error): string[] {
  const { CancellationReasons: reasons } = error as { CancellationReasons?: readonly { Code?: string }[] };
  return (reasons ?? []).map((reason) => reason.Code ?? 'None').filter((code) => code !== 'None');
}
