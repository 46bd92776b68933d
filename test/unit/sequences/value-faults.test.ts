import { describe, expect, it } from 'vitest';
import type { SequenceContent } from '../../../functions/pulser/sequence-content.ts';
import { rules } from '../../../functions/sequences/sequence-faults.ts';
import { loadSchemas, readSpecification } from '../../../functions/sequences/sequence-form.ts';
import { judgeValues } from '../../../functions/sequences/value-faults.ts';
import specs from '../../../infra/local/demo/device-specs.json' with { type: 'json' };

await loadSchemas();

const fresnel = JSON.parse(specs.FRESNEL);
const bounds = { max_amp: 10, max_abs_detuning: 20, min_avg_amp: 1, min_duration: 16, max_duration: 1_000 };
const channel = { ...fresnel.channels[0], ...bounds, id: 'global' };
const local = { ...channel, id: 'local', addressing: 'Local', max_targets: 2 };
const device = { ...fresnel, name: 'A', is_virtual: false, channels: [channel, local], max_sequence_duration: 1_500 };
const wide = {
  ...channel,
  max_amp: 1_000,
  max_abs_detuning: 1_000,
  min_avg_amp: 0,
  min_duration: 1,
  max_duration: null,
};

const of = (name: string, at = 0) => ({ expression: 'index', lhs: { variable: name }, rhs: at });
const constant = (duration: unknown, value: unknown) => ({ kind: 'constant', duration, value });
const pulse = (amplitude: object, detuning: object = constant(100, 0)) => ({
  ...{ op: 'pulse', channel: 'a', protocol: 'min-delay', phase: 0, post_phase_shift: 0 },
  amplitude,
  detuning,
});
const delay = (time: unknown) => ({ op: 'delay', channel: 'a', time });
const declared = { omega: 1, delta: 1, t: 1, list: 3 };

function contentOf(operations: readonly object[], own: object = device): SequenceContent {
  const variables = Object.entries(declared).map(([name, size]) => [
    name,
    { type: name === 't' ? 'int' : 'float', value: Array(size).fill(0) },
  ]);
  return {
    device: own,
    register: [
      { name: 'q0', x: 0, y: 0 },
      { name: 'q1', x: 9, y: 0 },
    ],
    channels: { a: 'global', b: 'local' },
    variables: Object.fromEntries(variables),
    operations,
    measurement: null,
  } as never;
}

const judge = (operations: readonly object[], given: object, announced?: object, own: object = device) =>
  judgeValues(contentOf(operations, own), announced as never)(given as never);

describe('the values of a job', () => {
  it.each<[type: string, place: string, message: string, operations: object[], given: object]>([
    [
      'sequence_amplitude',
      'variables.omega',
      "operations[0]: The amplitude (300 rad/µs) is above the maximum of channel 'a' (10 rad/µs).",
      [pulse(constant(of('t'), of('omega')), constant(of('t'), 0))],
      { omega: 300, t: 100 },
    ],
    ['sequence_amplitude', 'variables.omega', '(-1 rad/µs)', [pulse(constant(100, of('omega')))], { omega: [-1] }],
    [
      'sequence_amplitude',
      '',
      'operations[1]: The amplitude (12 rad/µs)',
      [
        pulse(constant(100, 5)),
        pulse({
          kind: 'ramp',
          duration: 100,
          start: of('omega'),
          stop: { expression: 'mul', lhs: of('delta'), rhs: 2 },
        }),
      ],
      { omega: 1, delta: 6 },
    ],
    [
      'sequence_amplitude',
      '',
      '(11.78',
      [pulse({ kind: 'blackman', duration: of('t'), area: of('omega') }, constant(0, 0))],
      { omega: 0.5, t: 102 },
    ],
    [
      'sequence_average_amplitude',
      'variables.omega',
      "(at most 0.5 rad/µs) is below the minimum of channel 'a' (1 rad/µs)",
      [pulse(constant(100, of('omega')))],
      { omega: 0.5 },
    ],
    [
      'sequence_detuning',
      'variables.delta',
      "(21 rad/µs, without its sign) is above the maximum of channel 'a' (20 rad/µs)",
      [pulse(constant(100, 5), constant(100, of('delta')))],
      { delta: -21 },
    ],
    [
      'sequence_dmm_detuning',
      'variables.delta',
      '(2 rad/µs) must not be positive',
      [{ op: 'add_dmm_detuning', dmm_name: 'dmm_0', protocol: 'no-delay', waveform: constant(100, of('delta')) }],
      { delta: 2 },
    ],
    [
      'sequence_duration',
      'variables.t',
      "(15 ns) is below the minimum of channel 'a' (16 ns)",
      [delay(of('t'))],
      { t: 15.9 },
    ],
    [
      'sequence_duration',
      'variables.t',
      "(1001 ns) is above the maximum of channel 'a' (1000 ns)",
      [pulse(constant(of('t'), of('omega')), constant(0, 0))],
      { t: JSON.rawJSON('1001.0'), omega: 5 },
    ],
    ['sequence_too_long', 'variables.t', '1600 ns or more', [delay(900), delay(of('t'))], { t: 700 }],
    [
      'sequence_pulse_durations',
      'variables.t',
      '100 and 104 ns',
      [pulse(constant(of('t'), of('omega')))],
      { t: 104, omega: 5 },
    ],
    [
      'sequence_target',
      'variables.t',
      'which has 2 qubits',
      [{ op: 'target', channel: 'b', target: of('t') }],
      { t: 2 },
    ],
    [
      'sequence_too_many_targets',
      'variables.list',
      '3 qubits',
      [{ op: 'target', channel: 'b', target: { variable: 'list' } }],
      { list: [0, 1, -1] },
    ],
  ])('are refused for %s at %s: %s', (type, place, message, operations, given) => {
    const { faults } = judge(operations, given);
    expect(faults.map((each) => `${each.type} ${each.path.join('.')}`)).toEqual([`${type} ${place}`]);
    expect(faults[0]!.message).toContain(message);
    covered.add(type);
  });

  const covered = new Set<string>();
  it('are tried against every rule of numbers', () => {
    const all = rules.flatMap(({ type, terms }) => (terms === undefined ? [] : [type]));
    expect(all.filter((type) => !covered.has(type))).toEqual([]);
  });

  it.each<[string, object[], object]>([
    [
      'at the bounds',
      [pulse(constant(of('t'), of('omega')), constant(of('t'), of('delta')))],
      { omega: 10, delta: -20, t: 16 },
    ],
    ['an amplitude of zero', [pulse(constant(100, of('omega')))], { omega: 0 }],
    ['one of another size', [pulse(constant(100, of('omega')))], { omega: [300, 300] }],
    ['a text, which NumPy may read', [pulse(constant(100, of('omega')))], { omega: '300' }],
    ['none', [pulse(constant(100, of('omega')))], {}],
    [
      'a part of a waveform alone below the least average',
      [
        pulse({
          kind: 'composite',
          waveforms: [constant(50, of('omega')), { kind: 'kaiser', duration: 50, area: 0.4, beta: 1 }],
        }),
      ],
      { omega: 0.1 },
    ],
    ['a sequence with a truncation', [delay(of('t')), delay(900), { op: 'truncate', duration: 500 }], { t: 700 }],
    [
      'an operation at fault for what no variable decides',
      [pulse(constant(100, 300), constant(100, of('delta')))],
      { delta: 0 },
    ],
    ['a fault in the phase alone', [{ ...pulse(constant(100, 300)), phase: of('omega') }], { omega: 1 }],
  ])('pass: %s', (_, operations, given) => {
    expect(judge(operations, given).faults).toEqual([]);
  });

  it('have each fault once, whatever number of operations has it', () => {
    const operations = [of('omega'), of('omega'), { expression: 'add', lhs: of('omega'), rhs: of('delta') }];
    const { faults } = judge(
      operations.map((value) => pulse(constant(100, value))),
      { omega: 300, delta: 1 },
    );
    expect(faults.map(({ path }) => path)).toEqual([['variables', 'omega'], []]);
  });

  it('are judged by the announced QPU, too, and by no emulator', () => {
    const operations = [pulse(constant(100, of('omega')))];
    const own = { ...device, channels: [wide, { ...wide, id: 'local', addressing: 'Local' }] };
    const announced = (is_virtual: boolean) => ({ ...device, is_virtual });
    const count = (by?: object) => judge(operations, { omega: 300 }, by, own).faults.length;
    expect([count(), count(announced(true)), count(announced(false))]).toEqual([0, 0, 1]);
    expect(readSpecification(specs.FRESNEL)?.is_virtual).toBe(false);
    expect(judge(operations, { omega: 300 }, undefined, 'A' as never).faults).toEqual([]);
  });

  it('say whether they leave a number uncertain', () => {
    const operations = [delay(100), pulse(constant(100, of('omega'))), pulse(constant(of('t'), 1))];
    const isUncertain = (given: object) => judge(operations, given).isUncertain;
    expect([{ omega: 5, t: 100 }, { omega: 5, t: 'x' }, { omega: true, t: 100 }, {}].map(isUncertain)).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  it('pass where a ramp may end at zero once rounded', () => {
    const ramp = (start: unknown, stop: unknown) => [pulse({ kind: 'ramp', duration: 100, start, stop })];
    const rest = { expression: 'sub', lhs: { expression: 'sub', lhs: 0.3, rhs: of('omega') }, rhs: 0.2 };
    expect(judge(ramp(5, rest), { omega: 0.1 }).faults).toEqual([]);
    expect(judge(ramp(5, rest), { omega: 0.1001 }).faults).toMatchObject([{ type: 'sequence_amplitude' }]);
    expect(judge([pulse(constant(100, rest))], { omega: 0.1 }).faults).toMatchObject([{ type: 'sequence_amplitude' }]);
  });

  it('are passed over once two million values were looked at, whatever the operations are', () => {
    const samples = { kind: 'custom', samples: Array(900_000).fill(0) };
    const judgeEach = judgeValues(contentOf([pulse(constant(of('t'), 5), samples)]), undefined);
    const judged = [1, 2, 3].map(() => judgeEach({ t: 100 }));
    expect(judged.map(({ faults, isPassedOver }) => [faults.length > 0, isPassedOver])).toEqual([
      [true, undefined],
      [true, undefined],
      [false, true],
    ]);
  });
});
