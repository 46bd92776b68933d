import { afterEach, describe, expect, it, vi } from 'vitest';
import { requiredEnv, tableNames } from '../../../functions/runtime/env.ts';

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

describe('tableNames', () => {
  it('gives the names of the tables that are used, and needs no others', () => {
    vi.stubEnv('BATCHES_TABLE', 'batches-1');
    vi.stubEnv('COLUMNS_TABLE', 'columns-1');
    vi.stubEnv('JOBS_TABLE', undefined);
    expect(tableNames('Batches', 'Columns')).toEqual({ Batches: 'batches-1', Columns: 'columns-1' });
    expect(() => tableNames('Jobs')).toThrow('JOBS_TABLE');
  });
});
