import { describe, expect, it } from 'vitest';
import { postgresqlTable } from '../../infra/docs/performance.ts';

describe('the table of lists beside PostgreSQL', () => {
  const figure = { name: 'a list', total: 9, readUnits: 1, calls: 2, depth: 3, cpuMilliseconds: 4 };
  const small = { ...figure, postgresqlCpuMilliseconds: 5, postgresqlBuffers: 6 };
  const large = { ...small, readUnits: 10.5, calls: 20, depth: 30, cpuMilliseconds: 40, postgresqlBuffers: 6_000 };

  it('has what grows at each size, calls and depth at the largest', () => {
    expect(postgresqlTable({ 100000: [large], 10000: [small] }).split('\n')).toEqual([
      '| page of 100 | read units, 10,000 | read units, 100,000 | calls | depth | CPU ms, 10,000 | CPU ms, 100,000 ' +
        '| PostgreSQL CPU ms, 10,000 | PostgreSQL CPU ms, 100,000 | buffers, 10,000 | buffers, 100,000 |',
      `|---|${'---:|'.repeat(10)}`,
      '| a list | 1 | 10.5 | 20 | 30 | 4 | 40 | 5 | 5 | 6 | 6,000 |',
    ]);
  });
});
