import { describe, expect, it } from 'vitest';
import type { FigureChoice } from '../../../../functions/console/sweep/figure-address.ts';
import { figureOf } from '../../../../functions/console/sweep/figure-data.ts';
import { peaksOf } from '../../../../functions/console/sweep/measures.ts';

function source(name: string, ...variables: Record<string, number>[]) {
  const jobs = variables.map((each, at) => ({
    ...{ id: `${name}-${at}`, creation_order: at, status: 'DONE', runs: 10, variables: each },
  }));
  const counts = new Map(
    jobs.map(({ id }, at) => [
      id,
      [
        { bits: '01', count: at + 1 },
        { bits: '10', count: 3 },
      ],
    ]),
  );
  return { name, link: '', jobs, total: jobs.length, counts, others: 0 };
}

const line = [{ x: 1 }, { x: 2 }, { x: 3 }];
const grid = [1, 2, 3].flatMap((x) => [1, 2].map((y) => ({ x, y })));
const none: FigureChoice = { show: 'bits', x: undefined, over: undefined, outcomes: undefined };

function draw(sources: ReturnType<typeof source>[], choice: Partial<FigureChoice> = {}) {
  const peaks = peaksOf(sources.flatMap(({ counts }) => [...counts.values()]));
  return figureOf(sources, { ...none, ...choice }, peaks, ['q0', 'q1']);
}

describe('figureOf', () => {
  it('draws a curve for each outcome over what differs', () => {
    const { axes, curves, isMap, count } = draw([source('a', ...line)], { outcomes: [['01'], ['10'], ['01', '10']] });
    expect([axes.x?.name, isMap, count]).toEqual(['x', false, 9]);
    expect(curves.map(({ name }) => name)).toEqual(['01', '10', '01 + 10']);
    expect(curves[2]!.line.map(({ value }) => value)).toEqual([1, 1, 1]);
  });

  it('draws a map of a grid, and a curve where no second variable is wanted', () => {
    const { axes, fields, isMap } = draw([source('a', ...grid)]);
    expect([axes.x?.name, axes.y?.name, isMap, fields.length]).toEqual(['x', 'y', true, 6]);
    expect(draw([source('a', ...grid)], { over: '#' }).isMap).toBe(false);
  });

  it('draws a field for each atom of each job', () => {
    const { fields } = draw([source('a', ...line)], { show: 'atoms' });
    expect(fields.map(({ x, y }) => [x, y])).toEqual(
      [1, 2, 3].flatMap((x) => [
        [x, 0],
        [x, 1],
      ]),
    );
  });

  it('draws over the number of the job where nothing differs, or where that is chosen', () => {
    expect(draw([source('a', { x: 1 }, { x: 1 })]).curves[0]!.points.map(({ x }) => x)).toEqual([1, 2]);
    expect(draw([source('a', { x: 5 }, { x: 9 })], { x: '#' }).curves[0]!.points.map(({ x }) => x)).toEqual([1, 2]);
  });

  it('draws a curve for each of several sweeps, over a variable that all of them have', () => {
    const { curves, axes, isMap } = draw([source('a', ...line), source('b', ...grid)]);
    expect([curves.map(({ name }) => name), axes.x?.name, isMap]).toEqual([['a', 'b'], 'x', false]);
    const apart = draw([source('a', ...line), source('b', { z: 1 }, { z: 2 })]);
    expect([apart.axes.x, apart.numeric, apart.count]).toEqual([undefined, [], 5]);
  });

  it('forgets a variable that the address names and no job has', () => {
    expect(draw([source('a', ...line)], { x: 'gone' }).axes.x?.name).toBe('x');
  });
});
