import { describe, expect, it } from 'vitest';
import { exampleSequence } from '../../../functions/schemas/example-sequence.ts';
import { jobRules, judgeJobs, judgeSequence, rules, runsFaults } from '../../../functions/sequences/sequence-faults.ts';
import { loadSchemas, readSpecification } from '../../../functions/sequences/sequence-form.ts';
import specs from '../../../infra/local/demo/device-specs.json' with { type: 'json' };

await loadSchemas();

type Content = Record<string, unknown>;

const fresnel = JSON.parse(specs.FRESNEL);
const channel = {
  ...fresnel.channels[0],
  max_amp: 10,
  max_abs_detuning: 20,
  min_avg_amp: 1,
  min_duration: 16,
  max_duration: 1_000,
};
const local = {
  ...channel,
  id: 'local',
  addressing: 'Local',
  max_targets: 1,
  min_retarget_interval: 0,
  fixed_retarget_t: 0,
  eom_config: null,
};
delete local.propagation_dir;
const xy = {
  ...local,
  id: 'xy',
  basis: 'XY',
  addressing: 'Global',
  max_targets: null,
  min_retarget_interval: null,
  fixed_retarget_t: null,
};
const coordinates = [
  [-5, -5],
  [-5, 0],
  [0, 0],
  [0, 5],
  [5, 5],
];
const device = {
  ...fresnel,
  channels: [{ ...channel, id: 'global' }, local, xy],
  max_atom_num: 4,
  max_radial_distance: 10,
  max_sequence_duration: 2_000,
  pre_calibrated_layouts: [{ coordinates }],
  accepts_new_layouts: false,
};
const constant = (duration: unknown, value: unknown) => ({ kind: 'constant', duration, value });
const pulse = (content: object = {}) => ({
  op: 'pulse',
  channel: 'a',
  protocol: 'min-delay',
  amplitude: constant(100, 5),
  detuning: constant(100, 0),
  phase: 0,
  post_phase_shift: 0,
  ...content,
});
const atoms = (...places: number[][]) => places.map(([x, y], at) => ({ name: `q${at}`, x, y }));
const variable = { expression: 'index', lhs: { variable: 'omega' }, rhs: 0 };
const eom = { channel: 'a', amp_on: 5, detuning_on: 0, optimal_detuning_off: 0, correct_phase_drift: false };
const target = (targets: unknown, name = 'b') => ({ op: 'target', channel: name, target: targets });

const sound: Content = {
  ...{ version: '1', name: 'sound', pulser_version: '1.9.1', measurement: 'ground-rydberg' },
  device,
  layout: { coordinates },
  register: atoms([0, 0], [5, 5]),
  channels: { a: 'global', b: 'local' },
  variables: { omega: { type: 'float', value: [0] } },
  operations: [pulse(), target(0), { op: 'delay', channel: 'b', time: 100 }],
};
const mappable = { register: [{ qid: 'q0' }, { qid: 'q1' }] };

const found = (content: Content, specification: Content = device) =>
  judgeSequence(
    JSON.parse(JSON.stringify({ ...sound, ...content })),
    readSpecification(JSON.stringify(specification)),
  ).faults.map(({ type, path }) => `${type} ${path.join('.')}`);
const then = (...operations: object[]) => ({ operations: [pulse(), ...operations] });
const other = (content: Content) => ({ ...device, name: 'OTHER', ...content });

describe('a sequence', () => {
  it.each<[type: string, place: string, content: Content, announced?: Content]>([
    ['sequence_too_many_atoms', 'register', { register: atoms(...coordinates) }],
    ['sequence_atoms_too_close', 'register.1', { register: atoms([0, 0], [3, 3.9]) }],
    ['sequence_atom_too_far', 'register.0', { register: atoms([7.1, 7.1], [0, 0]) }],
    [
      'sequence_dimensions',
      'register',
      {
        register: [{ name: 'q', x: 0, y: 0, z: 1 }],
        layout: {
          coordinates: [
            [0, 0, 1],
            [0, 9, 1],
          ],
        },
      },
    ],
    ['sequence_traps', 'layout', {}, other({ min_layout_traps: 6 })],
    ['sequence_traps', 'layout', {}, other({ max_layout_traps: 4, max_atom_num: 2 })],
    ['sequence_trap_place', 'layout.coordinates.5', { layout: { coordinates: [...coordinates, [-5, 4]] } }],
    ['sequence_trap_place', 'layout.coordinates.5', { layout: { coordinates: [...coordinates, [-5, 40]] } }],
    ['sequence_layout_filling', 'register', { register: atoms([0, 0], [5, 5], [0, 5]) }],
    ['sequence_layout_filling', 'register', {}, other({ min_layout_filling: 0.45 })],
    ['sequence_not_a_trap', 'register.1', { register: atoms([0, 0], [5, 5.001]) }],
    ['sequence_layout_required', 'layout', { layout: undefined }],
    [
      'sequence_new_layout',
      'layout',
      { layout: { coordinates: coordinates.map(([x, y]) => [x, -y!]) }, register: atoms([0, 0], [5, -5]) },
    ],
    ['sequence_unknown_channel', 'channels.c', { channels: { a: 'global', b: 'local', c: 'none' } }],
    ['sequence_channel_in_use', 'channels.c', { channels: { a: 'global', b: 'local', c: 'local' } }],
    ['sequence_mixed_modes', 'channels', { channels: { a: 'global', b: 'local', c: 'xy' } }],
    ['sequence_mixed_modes', 'magnetic_field', { magnetic_field: [0, 0, 1] }],
    ['sequence_no_matching_channel', 'channels.b', {}, other({ channels: [{ ...channel, id: 'global' }] })],
    ['sequence_rydberg_level', 'device.rydberg_level', {}, other({ rydberg_level: 70 })],
    ['sequence_measurement', 'measurement', { measurement: 'XY' }],
    ['sequence_measurement', 'measurement', { channels: { a: 'xy' }, operations: [] }],
    ['sequence_undeclared_channel', 'operations.1.channel', then(pulse({ channel: 'nobody' }))],
    ['sequence_undeclared_channel', 'operations.1.channels.1', then({ op: 'align', channels: ['a', 'c'] })],
    ['sequence_align', 'operations.1.channels', then({ op: 'align', channels: ['a', 'a'] })],
    ['sequence_not_local', 'operations.1.channel', then(target(0, 'a'))],
    ['sequence_too_many_targets', 'operations.1.target', then(target([0, 1]))],
    ['sequence_no_target', 'operations.1.channel', then(pulse({ channel: 'b' }))],
    ['sequence_phase_shift', 'operations.1.basis', then({ op: 'phase_shift', basis: 'digital', targets: [0], phi: 1 })],
    ['sequence_no_eom', 'operations.2.channel', then(target(0), { op: 'enable_eom_mode', ...eom, channel: 'b' })],
    ['sequence_eom_mode', 'operations.2.channel', then({ op: 'enable_eom_mode', ...eom }, pulse())],
    [
      'sequence_duration',
      'operations.1.amplitude',
      then(pulse({ amplitude: constant(15, 5), detuning: constant(0, 0) })),
    ],
    ['sequence_duration', 'operations.1.time', then({ op: 'delay', channel: 'a', time: 1_001 })],
    ['sequence_too_long', 'operations.2', then(...[901, 1_000].map((time) => ({ op: 'delay', channel: 'a', time })))],
    ['sequence_pulse_durations', 'operations.1.detuning', then(pulse({ detuning: constant(104, 0) }))],
    [
      'sequence_amplitude',
      'operations.1.amplitude',
      then(pulse({ amplitude: { kind: 'ramp', duration: 100, start: 5, stop: 10.1 } })),
    ],
    [
      'sequence_amplitude',
      'operations.1.amplitude',
      then(pulse({ amplitude: { kind: 'custom', samples: Array(100).fill(-1) } })),
    ],
    ['sequence_amplitude', 'operations.1.amp_on', then({ op: 'enable_eom_mode', ...eom, amp_on: 11 })],
    ['sequence_average_amplitude', 'operations.1.amplitude', then(pulse({ amplitude: constant(100, 0.9) }))],
    [
      'sequence_detuning',
      'operations.1.detuning',
      then(pulse({ detuning: { kind: 'composite', waveforms: [constant(50, 0), constant(50, -20.1)] } })),
    ],
    [
      'sequence_dmm_detuning',
      'operations.1.waveform',
      then({ op: 'add_dmm_detuning', dmm_name: 'dmm_0', waveform: constant(100, 1), protocol: 'no-delay' }),
    ],
    ['sequence_target', 'operations.1.target', then(target(2))],
    [
      'sequence_target',
      'operations.1.targets',
      then({ op: 'phase_shift', basis: 'ground-rydberg', targets: [-3], phi: 1 }),
    ],
    ['sequence_slm_mask', 'operations.1.qubits', then({ op: 'config_slm_mask', qubits: ['q9'], dmm_id: 'dmm_0' })],
    [
      'sequence_detuning_map',
      'operations.1.dmm_id',
      then({ op: 'config_detuning_map', detuning_map: { traps: [] }, dmm_id: 'dmm_0' }),
    ],
    [
      'sequence_undeclared_variable',
      'operations.1',
      then(pulse({ phase: { ...variable, lhs: { variable: 'none' } } })),
    ],
    ['sequence_variable', 'variables.qubits', { variables: { qubits: { type: 'int', value: [1] } } }],
    ['sequence_variable', 'variables.omega', { variables: { omega: { type: 'int' } } }],
    ['sequence_form', '', { version: undefined }],
    ['sequence_form', '', { version: 1 }],
    ['sequence_type', 'operations.0.channel', { operations: [pulse({ channel: 1 })] }],
    ['sequence_missing', 'channels', { channels: undefined }],
    ['sequence_unknown', 'device', { device: 'FRESNEL' }],
    ['sequence_length', 'magnetic_field', { magnetic_field: [0, 1] }],
  ])('is refused for %s at %s', (type, place, content, announced) => {
    expect(found(content, announced)).toContain(`${type} ${place}`);
    covered.add(type);
  });

  const covered = new Set<string>();
  it('is tried against every rule', () => {
    expect(rules.map(({ type }) => type).filter((type) => !covered.has(type))).toEqual([]);
  });

  it.each<[string, Content, Content?]>([
    ['that is sound', {}],
    [
      'at the bounds',
      {
        register: atoms([0, 0], [-5, 0]),
        ...then(pulse({ amplitude: constant(16, 10), detuning: constant(16, -20) })),
      },
    ],
    ['whose pulse takes its duration from the detuning', then(pulse({ amplitude: constant(0, 10) }))],
    ['whose values depend on variables', then(pulse({ amplitude: constant(100, variable) }))],
    ['with a later form', { version: '2', register: 'new' }],
    ['of the former serializer', { version: undefined, __module__: 'pulser.sequence.sequence', register: 'old' }],
    ['of no form, for an emulator', { version: undefined, register: 'new' }, other({ is_virtual: true })],
    ['of a later Pulser', { pulser_version: '1.10.0rc1', operations: [{ op: 'new' }] }],
    ['of an unknown Pulser with an unknown operation', { pulser_version: undefined, ...then({ op: 'new' }) }],
    ['on a device that is only named', { device: 'IroiseMVP', measurement: 'XY' }],
    [
      'on an emulator that announces narrower bounds',
      {},
      { ...other({ max_atom_num: 1, is_virtual: true }), requires_layout: true },
    ],
    ['on a device with a specification of another form', {}, { ...other({ max_atom_num: 1 }), newer: 1 }],
  ])('%s passes', (_, content, announced) => {
    expect(found(content, announced)).toEqual([]);
  });

  it('passes as the example of the documentation', () => {
    expect(judgeSequence(JSON.parse(exampleSequence)).faults).toEqual([]);
  });
});

describe('a job', () => {
  const faults = (content: Content, variables: Content | null) =>
    judgeJobs({ ...sound, ...content } as never)({ variables }).faults.map(
      ({ type, path }) => `${type} ${path.join('.')}`,
    );
  const parametrized = then(pulse({ phase: variable }));

  it.each<[string[], Content, Content | null]>([
    [[], {}, null],
    [[], parametrized, { omega: 1 }],
    [[], parametrized, { omega: [1] }],
    [[], parametrized, { omega: 'text' }],
    [['sequence_variable_missing variables.omega'], parametrized, null],
    [['sequence_variable_size variables.omega'], parametrized, { omega: [1, 2] }],
    [['sequence_variable_missing variables.omega', 'sequence_variable_missing variables.qubits'], mappable, {}],
    [[], mappable, { omega: 1, qubits: { q0: 4 } }],
    [['sequence_qubits variables.qubits'], mappable, { omega: 1, qubits: { q1: 4 } }],
    [['sequence_qubits variables.qubits'], mappable, { omega: 1, qubits: { q0: 4, q1: 4 } }],
    [['sequence_qubits variables.qubits'], mappable, { omega: 1, qubits: { q0: 5 } }],
  ])('has the faults %j', (expected, content, variables) => {
    expect(faults(content, variables)).toEqual(expected);
  });

  it('takes as many runs as a QPU allows, and any number on an emulator', () => {
    const [qpu, emulator] = [specs.FRESNEL, specs.EMU_MPS].map((text) => readSpecification(text));
    expect([2_000, 2_001, null].map((runs) => runsFaults(runs, qpu).length)).toEqual([0, 1, 0]);
    expect(runsFaults(1_000_000, emulator)).toEqual([]);
    expect(jobRules).toHaveLength(4);
  });
});
