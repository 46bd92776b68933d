/** A device as Pulser describes it, in its smallest form: it bounds nothing. */
export function deviceContent(name: string, content: object = {}) {
  const channel = {
    ...{ id: 'rydberg_global', basis: 'ground-rydberg', addressing: 'Global', max_amp: null, max_abs_detuning: null },
    ...{ min_retarget_interval: null, fixed_retarget_t: null, max_targets: null, clock_period: 1, min_duration: 1 },
    ...{ max_duration: null, mod_bandwidth: null, eom_config: null },
  };
  return {
    ...{ version: '1', name, is_virtual: true, dimensions: 2, rydberg_level: 60, channels: [channel] },
    ...{ min_atom_distance: 0, max_atom_num: null, max_radial_distance: null, interaction_coeff_xy: null },
    ...{ supports_slm_mask: false, max_layout_filling: 0.5, reusable_channels: true },
    ...content,
  };
}

/** The JSON of a small sequence that Pulser reads. */
export function sequenceText(content: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    version: '1',
    name: 'pulser-exported',
    register: [{ name: 'q0', x: 0, y: 0 }],
    channels: { ising: 'rydberg_global' },
    variables: {},
    operations: [],
    measurement: 'ground-rydberg',
    device: deviceContent('AnalogDevice'),
    ...content,
  });
}

/** One that declares these variables. */
export function sequenceWith(...variables: string[]): string {
  return sequenceText({
    variables: Object.fromEntries(variables.map((name) => [name, { type: 'float', value: [0] }])),
  });
}
