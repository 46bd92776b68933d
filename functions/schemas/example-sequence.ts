/**
 * The sequence of all examples: two atoms, too close to be excited together, and a pulse whose
 * amplitude is the variable `omega`. Pulser reads it, and every emulator runs it.
 */
export const exampleSequence = JSON.stringify({
  version: '1',
  name: 'two-atoms',
  device: 'MockDevice',
  register: [
    { name: 'a', x: 0, y: 0 },
    { name: 'b', x: 0, y: 6 },
  ],
  channels: { global: 'rydberg_global' },
  variables: { omega: { type: 'float', value: [0] } },
  operations: [
    {
      op: 'pulse',
      channel: 'global',
      protocol: 'min-delay',
      amplitude: {
        kind: 'constant',
        duration: 500,
        value: { expression: 'index', lhs: { variable: 'omega' }, rhs: 0 },
      },
      detuning: { kind: 'constant', duration: 500, value: 0 },
      phase: 0,
      post_phase_shift: 0,
    },
  ],
  measurement: 'ground-rydberg',
});
