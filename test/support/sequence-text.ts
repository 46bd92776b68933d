/** The JSON of a sequence, cut down to what the service looks at. */
export function sequenceText(content: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    version: '1',
    name: 'pulser-exported',
    register: [{ name: 'q0', x: 0, y: 0 }],
    channels: { ising: 'rydberg_global' },
    variables: {},
    operations: [],
    measurement: 'ground-rydberg',
    device: { version: '1', name: 'AnalogDevice' },
    ...content,
  });
}

/** One that declares these variables. */
export function sequenceWith(...variables: string[]): string {
  return sequenceText({
    variables: Object.fromEntries(variables.map((name) => [name, { type: 'float', value: [0] }])),
  });
}
