import { describe, expect, it } from 'vitest';
import { whyNotDrawn } from '../../../functions/console/drawing/not-drawn.ts';
import { readWaveform } from '../../../functions/console/drawing/waveform-samples.ts';

const values = new Map([['x', [2, 6]]]);
const second = { expression: 'index', lhs: { variable: 'x' }, rhs: 1 };

describe('waveforms', () => {
  // pulser-core 1.9.1 gives these samples.
  it.each([
    [{ kind: 'constant', duration: 3, value: second }, [6, 6, 6]],
    [{ kind: 'ramp', duration: 5, start: -1, stop: 3 }, [-1, 0, 1, 2, 3]],
    [{ kind: 'blackman', duration: 8, area: 0.02 }, [0, 0.615329, 3.123694, 6.260977, 6.260977, 3.123694, 0.615329, 0]],
    [
      { kind: 'kaiser', duration: 7, area: 0.02, beta: 14 },
      [0.000078, 0.330305, 4.647569, 10.044096, 4.647569, 0.330305, 0.000078],
    ],
    [
      { kind: 'kaiser_max', max_val: -30, area: -0.1, beta: 3 },
      [-5.749205, -17.530803, -26.719992, -26.719992, -17.530803, -5.749205],
    ],
    [
      { kind: 'interpolated', duration: 9, values: [0, 4, 1, 1, -2], times: [0, 0.25, 0.5, 0.75, 1] },
      [0, 2.9375, 4, 2.5, 1, 1, 1, 0.0625, -2],
    ],
    [
      { kind: 'interpolated', duration: 9, values: [1, 3, 2], times: [0.2, 0.5, 0.9] },
      [1, 1, 1.516038, 2.569589, 3, 2.969482, 2.755859, 2.176025, 1.046875],
    ],
    [
      { kind: 'interpolated', duration: 9, values: [0, 1, 9], times: [0, 0.5, 1] },
      [0, 0.072917, 0.277778, 0.59375, 1, 1.960938, 3.784722, 6.216146, 9],
    ],
    [{ kind: 'interpolated', duration: 9, values: [1, 3], times: [0.25, 0.75] }, [1, 1, 1, 1.5, 2, 2.5, 3, 3, 3]],
    [
      {
        kind: 'composite',
        waveforms: [
          { kind: 'custom', samples: [1, 5] },
          { kind: 'constant', duration: 1, value: 2 },
        ],
      },
      [1, 5, 2],
    ],
  ])('%j', (form, samples) => {
    const { duration, sample } = readWaveform(form, values);
    expect(sample(duration)).toEqual(samples.map((each) => expect.closeTo(each, 5)));
  });

  it.each([
    ['blackman_max', -10, -1.5, 359],
    ['blackman_max', 30, 0.31, 26],
    ['blackman_max', 20, 0.5, 61],
    ['blackman_max', 30.8, 0.12, 10],
    ['kaiser_max', 10, 1.5, 453],
  ])('%s of at most %d lasts as long as Pulser finds', (kind, max_val, area, duration) => {
    expect(readWaveform({ kind, max_val, area, beta: 14 }, values).duration).toBe(duration);
  });

  it.each([
    [{ kind: 'sine', duration: 5 }, 'cannot be read'],
    [{ kind: 'constant', duration: 0, value: 1 }, 'cannot be read'],
    [{ kind: 'constant', duration: 1e9, value: 1 }, 'too long'],
    [{ kind: 'constant', duration: 9, value: { variable: 'y' } }, 'variable y'],
    [{ kind: 'constant', duration: 9, value: { expression: 'div', lhs: 1, rhs: 0 } }, 'finite'],
    [{ kind: 'blackman_max', max_val: 1e-9, area: 1 }, 'too long'],
    [{ kind: 'interpolated', duration: 9, values: [1, 2], times: [1, 0] }, 'cannot be read'],
  ])('%j is not drawn', (form, reason) => {
    let why: string | undefined;
    try {
      readWaveform(form, values);
    } catch (error) {
      why = whyNotDrawn(error);
    }
    expect(why).toContain(reason);
  });
});
