/**
 * What makes a caller an operator: the scope `operator`. The authorizer also gives it to members of
 * the issuer's group `operators`. Operators are users as well, with rows of their own. A token with
 * the scope of a device is never an operator's.
 */

import { isDeviceScope } from './device-scope.ts';

export const operatorScope = 'operator';

/** The group of operators, in the claim `groups` or `cognito:groups`. */
export const operatorsGroup = 'operators';

export function isOperator(scopes: readonly string[]): boolean {
  return scopes.includes(operatorScope) && !scopes.some(isDeviceScope);
}
