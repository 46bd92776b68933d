import { afterEach, describe, expect, it, vi } from 'vitest';
import { requiredEnv } from '../../../functions/runtime/env.ts';

afterEach(() => vi.unstubAllEnvs());

describe('requiredEnv', () => {
  it('gives the value', () => {
    vi.stubEnv('SOMETHING', 'a value');
    expect(requiredEnv('SOMETHING')).toBe('a value');
  });

  it.each(['', undefined])('names the variable that is %j', (value) => {
    vi.stubEnv('SOMETHING', value);
    expect(() => requiredEnv('SOMETHING')).toThrow('The environment variable SOMETHING is not set.');
  });
});
