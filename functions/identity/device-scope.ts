/**
 * What makes a token a device's: a scope that names its type, `device:FRESNEL`, or all types,
 * `device:*`. Such a token owns nothing: the paths of users refuse it, and the paths of
 * devices refuse every other token.
 */

const prefix = 'device:';

/** The scope for devices of every type. */
export const anyDevice = `${prefix}*`;

export function isDeviceScope(scope: string): boolean {
  return scope.startsWith(prefix) && scope !== prefix;
}

/** The characters of scopes (RFC 6749, section 3.3). */
const scopeCharacters = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/**
 * The least scope that allows to act for devices of this type. No scope can name a type with spaces
 * or of other letters than ASCII's.
 */
export function scopeFor(deviceType: string): string {
  return scopeCharacters.test(deviceType) ? prefix + deviceType : anyDevice;
}

/** Whether a token with these scopes may act for devices of this type. */
export function mayActFor(deviceType: string, scopes: readonly string[]): boolean {
  return scopes.includes(anyDevice) || scopes.includes(scopeFor(deviceType));
}
