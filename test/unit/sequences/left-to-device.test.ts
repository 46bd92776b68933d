import { describe, expect, it } from 'vitest';
import { leftToDevice, leftToValues } from '../../../functions/sequences/left-to-device.ts';
import { loadSchemas, readForm } from '../../../functions/sequences/sequence-form.ts';
import { deviceContent, sequenceText } from '../../support/sequence-text.ts';

await loadSchemas();
const formOf = (content: object) => readForm(JSON.parse(sequenceText({ pulser_version: '1.9.1', ...content })));
const left = (content: object) => leftToDevice(formOf(content));
const nested = (levels: number): object => (levels === 0 ? {} : { expression: 'neg', lhs: nested(levels - 1) });
const window = { kind: 'kaiser', duration: 100, area: 1, beta: 14 };
const pulse = (amplitude: object) => ({
  ...{ op: 'pulse', channel: 'ising', protocol: 'min-delay', phase: 0, post_phase_shift: 0, amplitude },
  detuning: { kind: 'interpolated', duration: 100, values: [1, 2], times: [0, 1] },
});

describe('what is left to the device', () => {
  it.each<[string, object, string[]]>([
    ['nothing', {}, []],
    ['another form', { version: '2' }, ['The whole sequence: it does not say `"version": "1"`.']],
    [
      'a later Pulser',
      { pulser_version: '1.10.0' },
      ['The whole sequence: it is from Pulser 1.10.0, and the check knows Pulser up to 1.9.1.'],
    ],
    ['depth', { name: nested(101) }, ['The whole sequence: it is more than 100 levels deep.']],
    [
      'unknown names',
      { pulser_version: undefined, newer: 1 },
      ['The whole sequence: it has names that the check does not know, and does not say which Pulser it is from.'],
    ],
    [
      'a device that is only named',
      { device: 'IroiseMVP' },
      ['All but the form: the sequence only names its device, IroiseMVP, and the check does not know it.'],
    ],
    ['a device that is known', { device: 'MockDevice', channels: {} }, []],
    [
      'kinds of waveforms',
      { operations: [pulse({ kind: 'composite', waveforms: [window, window] }), pulse(window)] },
      ['The samples of waveforms of these kinds: interpolated, kaiser.'],
    ],
    ['nothing of a form with faults', { operations: 1 }, []],
  ])('%s', (_, content, entries) => {
    expect(left({ device: deviceContent('A'), ...content })).toEqual(entries);
  });

  it('waits for values where something depends on them', () => {
    const variables = { omega: { type: 'float', value: [0] }, t: { type: 'int', value: [0] } };
    const operations = [
      { op: 'delay', channel: 'ising', time: { expression: 'index', lhs: { variable: 't' }, rhs: 0 } },
    ];
    expect(leftToValues(formOf({ variables, operations }))).toEqual([
      'What depends on these variables: omega, t. No job gives them values yet.',
    ]);
    expect(leftToValues(formOf({ variables }))).toEqual([]);
    expect(leftToValues(formOf({ version: '2' }))).toEqual([]);
  });
});
