import { matchesPattern } from '../iam/policy.ts';

/**
 * Whether the API treats bodies of this `Content-Type` as binary. Without the header a body is
 * JSON; parameters are ignored.
 */
export function isBinaryMediaType(contentType: string | undefined, binaryMediaTypes: readonly string[]): boolean {
  const [mediaType = ''] = (contentType ?? 'application/json').split(';');
  return binaryMediaTypes.some((pattern) => matchesPattern(pattern.toLowerCase(), mediaType.trim().toLowerCase()));
}
