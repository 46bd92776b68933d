import { describe, expect, it } from 'vitest';
import { curveOf, fieldsOf, gapsOf, placesOf, readersOf, sidesOf } from '../../../../functions/console/sweep/curves.ts';
import { readVariables } from '../../../../functions/console/sweep/variables.ts';

const job = (place: number, status = 'DONE', variables: Record<string, number> = {}) => ({
  ...{ id: `job-${place}`, creation_order: place, status, runs: 100, variables },
});
const counted = (...shares: number[]) =>
  new Map(
    shares.map((share, at) => [
      `job-${at}`,
      [
        { bits: '0', count: 100 - share },
        { bits: '1', count: share },
      ],
    ]),
  );
const [reader] = readersOf('bits', [['1']], '');

describe('curveOf', () => {
  it('sorts points by the variable, and draws a line through the mean of each place', () => {
    const jobs = [job(0, 'DONE', { x: 2 }), job(1, 'DONE', { x: 1 }), job(2, 'DONE', { x: 2 })];
    const [x] = readVariables(jobs).differing;
    const { points, line } = curveOf('1', jobs, counted(10, 50, 30), x, reader!.read);
    expect(points.map((each) => [each.x, each.value, each.job.id])).toEqual([
      [1, 0.5, 'job-1'],
      [2, 0.1, 'job-0'],
      [2, 0.3, 'job-2'],
    ]);
    expect(line.map((each) => [each.x, each.value])).toEqual([
      [1, 0.5],
      [2, 0.2],
    ]);
    expect(line[1]!.error).toBeCloseTo(Math.hypot(points[1]!.error, points[2]!.error) / 2, 12);
  });

  it('takes the number of the job where no variable is chosen, and leaves out jobs without counts', () => {
    const { points } = curveOf('1', [job(0), job(1), job(2)], counted(10, 20), undefined, reader!.read);
    expect(points.map(({ x }) => x)).toEqual([1, 2]);
  });
});

describe('readersOf', () => {
  it('reads a share of 0 where an outcome never came, and nothing of another number of atoms', () => {
    const [{ read } = reader!] = readersOf('bits', [['11']], '');
    expect(read([{ bits: '00', count: 5 }])?.value).toBe(0);
    expect(read([{ bits: '000', count: 5 }])).toBeUndefined();
  });
});

describe('gapsOf', () => {
  it('has the jobs that failed or are not done, and no canceled ones', () => {
    const jobs = ['DONE', 'ERROR', 'RUNNING', 'CANCELED', 'PENDING'].map((status, at) => job(at, status));
    expect(gapsOf(jobs, undefined).map((gap) => [gap.x, gap.job.status])).toEqual([
      [2, 'ERROR'],
      [3, 'RUNNING'],
      [5, 'PENDING'],
    ]);
  });
});

describe('fieldsOf', () => {
  it('has a field for each job, by both variables', () => {
    const jobs = [job(0, 'DONE', { a: 1, b: 7 }), job(1, 'DONE', { a: 2, b: 8 })];
    const [a, b] = readVariables(jobs).differing;
    const fields = fieldsOf(jobs, counted(10, 20), [a, b!], reader!.read);
    expect(fields.map(({ x, y, value }) => [x, y, value])).toEqual([
      [1, 7, 0.1],
      [2, 8, 0.2],
    ]);
  });
});

describe('placesOf', () => {
  it('has the mean of the jobs at one place, with its error', () => {
    const [first, second] = [job(0, 'DONE', {}), job(1, 'DONE', {})];
    const at = { x: 1, y: 7 };
    const fields = [
      { ...at, job: first, value: 0.2, error: 0.03 },
      { ...at, y: 8, job: first, value: 0.9, error: 0.01 },
      { ...at, job: second, value: 0.4, error: 0.04 },
    ];
    expect(placesOf(fields).map(({ x, y, value, job: { id } }) => [x, y, value.toFixed(3), id])).toEqual([
      [1, 7, '0.300', second.id],
      [1, 8, '0.900', first.id],
    ]);
    expect(placesOf(fields)[0]!.error).toBeCloseTo(0.025, 9);
  });
});

describe('sidesOf', () => {
  it('has fields that touch each other, as wide at the ends as toward their neighbors', () => {
    expect([...sidesOf([3, 1, 2, 6, 1])]).toEqual([
      [1, [0.5, 1.5]],
      [2, [1.5, 2.5]],
      [3, [2.5, 4.5]],
      [6, [4.5, 7.5]],
    ]);
  });

  it('has a width for a single place', () => {
    expect([...sidesOf([4])]).toEqual([[4, [3.5, 4.5]]]);
  });
});
