import type { Parameter } from './sequence-content.ts';

/** The number of a literal; undefined of anything else. */
export function constant(parameter: unknown): number | undefined {
  return typeof parameter === 'number' ? parameter : undefined;
}

/** Whether a value contains a variable or an expression of some. */
export function usesVariables(value: Parameter | unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ('variable' in value) return true;
  return Object.values(value).some(usesVariables);
}

/** The names of all variables in a value. */
export function variablesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || !usesVariables(value)) return [];
  return 'variable' in value ? [String(value.variable)] : Object.values(value).flatMap(variablesIn);
}
