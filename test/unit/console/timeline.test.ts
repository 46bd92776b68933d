import { describe, expect, it } from 'vitest';
import { type ReadableSequence, readSequence } from '../../../functions/console/drawing/readable-sequence.ts';
import { lineOf, schedule } from '../../../functions/console/drawing/timeline.ts';

const rydberg = { basis: 'ground-rydberg', clock_period: 4, min_duration: 16 };
const device = {
  channels: [
    { ...rydberg, id: 'rydberg_global', addressing: 'Global', custom_phase_jump_time: 50 },
    { ...rydberg, id: 'rydberg_local', addressing: 'Local', min_retarget_interval: 220, fixed_retarget_t: 0 },
    { id: 'raman_local', basis: 'digital', addressing: 'Local', clock_period: 1, min_duration: 1 },
  ],
  dmm_objects: [{ ...rydberg, id: 'dmm_0', addressing: 'Global' }],
};
const channels = { g: 'rydberg_global', l: 'rydberg_local', d: 'raman_local' };

function sequenceOf(operations: readonly object[], changed: object = {}): ReadableSequence {
  const register = [0, 1, 2].map((at) => ({ name: `q${at}`, x: 9 * at, y: 0 }));
  const variables = { w: { type: 'int', value: [0] } };
  return { device, channels, register, variables, operations, ...changed } as ReadableSequence;
}

const constant = (duration: unknown, value: number) => ({ kind: 'constant', duration, value });
const pulse = (channel: string, duration: unknown, changed: object = {}) => ({
  op: 'pulse',
  channel,
  protocol: 'min-delay',
  amplitude: constant(duration, 1),
  detuning: constant(0, 0),
  phase: 0,
  post_phase_shift: 0,
  ...changed,
});
const target = (channel: string, at: number) => ({ op: 'target', channel, target: at });

describe('schedule', () => {
  // pulser-core 1.9.1 gives these times and phases.
  it.each([
    [
      'a clock and a phase jump',
      [pulse('g', 18), pulse('g', 16, { phase: 1 }), pulse('g', 16, { phase: 1 })],
      ['g 0 20 0', 'g 72 88 1', 'g 88 104 1'],
    ],
    [
      'a phase jump after a delay',
      [pulse('g', 16), { op: 'delay', channel: 'g', time: 20 }, pulse('g', 16, { phase: 1 })],
      ['g 0 16 0', 'g 68 84 1'],
    ],
    [
      'a phase that shifted during the pulse of another channel',
      [
        target('l', 0),
        pulse('g', 100),
        { op: 'phase_shift', basis: 'ground-rydberg', targets: [0], phi: 1 },
        pulse('l', 40, { protocol: 'no-delay' }),
      ],
      ['g 0 100 0', 'l 100 140 1'],
    ],
    [
      'a wait for all',
      [target('l', 0), target('d', 1), pulse('l', 100), pulse('d', 40, { protocol: 'wait-for-all' })],
      ['l 0 100 0', 'd 100 140 0'],
    ],
    [
      'another channel with the same qubit',
      [target('l', 0), target('d', 1), pulse('l', 100), pulse('d', 50), pulse('g', 20), pulse('d', 20)],
      ['g 100 120 0', 'l 0 100 0', 'd 0 50 0', 'd 120 140 0'],
    ],
    [
      'a pulse without delay',
      [target('l', 0), pulse('g', 100), pulse('l', 40, { protocol: 'no-delay' })],
      ['g 0 100 0', 'l 0 40 0'],
    ],
    [
      'a new target',
      [
        ...[target('l', 0), pulse('l', 40), target('l', 1), pulse('l', 40), target('l', 1), target('l', 2)],
        ...[pulse('l', 400), target('l', 0), pulse('l', 16)],
      ],
      ['l 0 40 0', 'l 220 260 0', 'l 440 840 0', 'l 840 856 0'],
    ],
    [
      'delays and alignment',
      [
        ...[target('d', 0), pulse('d', 30), { op: 'delay', channel: 'g', time: 17 }],
        ...[{ op: 'align', channels: ['g', 'd'], at_rest: false }, pulse('g', 16)],
      ],
      ['g 36 52 0', 'd 0 30 0'],
    ],
    [
      'phases that shift',
      [
        target('d', 0),
        pulse('d', 30, { post_phase_shift: 2 }),
        { op: 'phase_shift', basis: 'digital', targets: [0], phi: 5 },
        pulse('d', 10),
        { op: 'phase_shift', basis: 'ground-rydberg', targets: [0, 1, 2], phi: 1 },
        pulse('g', 100),
        pulse('g', 16),
      ],
      ['g 40 140 1', 'g 140 156 1', 'd 0 30 0', 'd 30 40 0.716815'],
    ],
    [
      'a detuning map',
      [
        { op: 'config_detuning_map', dmm_id: 'dmm_0' },
        {
          op: 'add_dmm_detuning',
          dmm_name: 'dmm_0',
          protocol: 'no-delay',
          waveform: { kind: 'ramp', duration: 41, start: 0, stop: -5 },
        },
        pulse('g', 16),
      ],
      ['g 44 60 0', 'dmm_0 0 44 0'],
    ],
    ['a variable', [pulse('g', { expression: 'index', lhs: { variable: 'w' }, rhs: 0 })], ['g 0 20 0']],
  ])('%s', (_, operations, expected) => {
    const { tracks, problem } = schedule(sequenceOf(operations), { w: 18.7 });
    expect(problem).toBeUndefined();
    const pulses = tracks.flatMap((track) => track.pulses.map((each) => ({ ...each, name: track.name })));
    expect(pulses.map(({ name, from, to, phase }) => `${name} ${from} ${to} ${Number(phase.toFixed(6))}`)).toEqual(
      expected,
    );
  });

  const fading = { ...device, channels: [{ ...device.channels[0], mod_bandwidth: 8 }] };

  it.each([
    ['EOM mode', [pulse('g', 16), { op: 'enable_eom_mode', channel: 'g' }], {}, 1, 'enable_eom_mode'],
    ['truncation', [pulse('g', 16), { op: 'truncate', duration: 10 }], {}, 0, 'truncate'],
    ['a missing variable', [pulse('g', { variable: 'v' })], {}, 0, 'variable v'],
    ['an unknown device', [pulse('g', 16)], { device: 'Chadoq2' }, 0, 'rydberg_global'],
    ['too many operations', Array(10_001).fill(pulse('g', 16)), {}, 0, 'too long'],
    ['no target', [pulse('l', 16)], {}, 0, 'l.'],
    [
      'light that fades',
      [pulse('g', 16), pulse('g', 16), pulse('g', 16, { phase: 1 })],
      { device: fading, channels: { g: 'rydberg_global' } },
      2,
      'fades',
    ],
    [
      'expressions without end',
      [pulse('g', JSON.parse(`${'{"expression":"neg","lhs":'.repeat(1e5)}1${'}'.repeat(1e5)}`))],
      {},
      0,
      'cannot be read',
    ],
  ])('%s ends the drawing, with the reason', (_, operations, changed, drawn, reason) => {
    const timeline = schedule(sequenceOf(operations, changed), {});
    expect(timeline).toMatchObject({ drawn, problem: expect.stringContaining(reason) });
    expect(timeline.tracks.flatMap(({ pulses }) => pulses)).toHaveLength(drawn);
  });

  it('draws nothing of what is no sequence', () => {
    const sequence = readSequence('{"operations":7,"channels":null,"register":"x"}')!;
    expect(schedule(sequence, {})).toMatchObject({
      tracks: [],
      nanoseconds: 0,
      problem: 'Its operations cannot be read.',
    });
  });
});

describe('lineOf', () => {
  it('is 0 between pulses, and keeps peaks however few points it has', () => {
    const samples = Array.from({ length: 10_000 }, (_, at) => ({ 5001: 9, 5003: 0 })[at] ?? 1);
    const later = { from: 12_000, to: 12_002, amplitude: [3, 3], detuning: [0, 0], phase: 0, targets: [] };
    const first = { ...later, from: 100, to: 10_100, amplitude: samples };
    const line = lineOf([first, later], 'amplitude', 12_500, 50);
    expect(line.length).toBeLessThan(100);
    expect(line).toContainEqual([5_101, 9]);
    expect(line).toContainEqual([5_103, 0]);
    expect(line.map(([at]) => at)).toEqual(line.map(([at]) => at).sort((a, b) => a - b));
    expect(line.slice(0, 3)).toEqual([
      [0, 0],
      [100, 0],
      [100, 1],
    ]);
    expect(line.slice(-7)).toEqual([
      [10_100, 1],
      [10_100, 0],
      [12_000, 0],
      [12_000, 3],
      [12_002, 3],
      [12_002, 0],
      [12_500, 0],
    ]);
  });
});
