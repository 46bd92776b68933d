import { afterEach, describe, expect, it, vi } from 'vitest';
import { retry } from '../../../../functions/data/dynamodb/retry.ts';
import { TooBusy } from '../../../../functions/errors.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

class Passing extends Error {}

const options = {
  attempts: 6,
  firstMilliseconds: 20,
  maxDelayMilliseconds: 100,
  mayPass: (error: unknown) => error instanceof Passing,
  message: 'Too many.',
};

/**
 * When each attempt starts, in milliseconds after the first, where the first `failures` of them
 * fail with `error`.
 */
async function startsOf(failures: number, error: Error) {
  const starts: number[] = [];
  const clock = virtualClock();
  const work = async () => {
    starts.push(clock.elapsed());
    if (starts.length <= failures) throw error;
    return 'done';
  };
  const outcome = await retry(clock, work, options).catch((thrown: unknown) => thrown);
  return { starts, outcome };
}

afterEach(() => vi.restoreAllMocks());

describe('retry', () => {
  it('works once when that succeeds', async () => {
    expect(await startsOf(0, new Passing())).toEqual({ starts: [0], outcome: 'done' });
  });

  it('pauses up to a bound that doubles until it is the longest', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    expect(await startsOf(5, new Passing())).toEqual({ starts: [0, 20, 60, 140, 240, 340], outcome: 'done' });
  });

  it('pauses any part of the bound', async () => {
    vi.spyOn(Math, 'random').mockReturnValueOnce(0.5).mockReturnValueOnce(0.1);
    expect((await startsOf(2, new Passing())).starts).toEqual([0, 10, 14]);
  });

  it('throws TooBusy after the last attempt, with its error as the cause', async () => {
    const error = new Passing();
    const { starts, outcome } = await startsOf(99, error);
    expect(starts).toHaveLength(6);
    expect(outcome).toEqual(new TooBusy('Too many.', { cause: error }));
    expect((outcome as Error).cause).toBe(error);
  });

  it('throws an error that cannot pass at once', async () => {
    const error = new Error('broken');
    expect(await startsOf(99, error)).toEqual({ starts: [0], outcome: error });
  });
});
