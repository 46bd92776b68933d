import { matchesPattern } from '../iam/policy.ts';

/** Whether the API takes bodies of this `Content-Type` for binary; a body without one is JSON. Parameters do not matter. */
export function isBinaryMediaType(contentType: string | undefined, binaryMediaTypes: readonly string[]): boolean {
  const [mediaType = ''] = (contentType ?? 'application/json').split(';');
  return binaryMediaTypes.some((pattern) => matchesPattern(pattern.toLowerCase(), mediaType.trim().toLowerCase()));
}
