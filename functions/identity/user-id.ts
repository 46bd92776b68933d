import { escapedBytes } from '../values/json-text.ts';

const maxCharacters = 256;

/**
 * Whether a text can be a user's id: the `sub` of their tokens, and the partition key of their
 * rows. 1 to 256 characters, and at most three bytes of escaped JSON for each: every row of
 * a list holds the id.
 */
export function isUserId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= maxCharacters &&
    value.isWellFormed() &&
    escapedBytes(value) <= 3 * maxCharacters
  );
}
