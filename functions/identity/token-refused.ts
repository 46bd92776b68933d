/** A token that is not accepted, and why: for the log only, callers are told nothing. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}
