import { describe, expect, it } from 'vitest';
import { describeSpecification } from '../../../functions/console/views/specification.ts';
import specifications from '../../../infra/local/demo/device-specs.json' with { type: 'json' };

describe('describeSpecification', () => {
  it('puts a processor into words', () => {
    const { facts = [], channels = [] } = describeSpecification(specifications.FRESNEL) ?? {};
    expect(Object.fromEntries(facts)).toMatchObject({
      Name: 'FRESNEL',
      'Atoms at most': '80',
      'Distance of atoms at least': '5 µm',
      'Distance from the center at most': '38 µm',
      'Longest sequence': '6,000 ns',
      'SLM mask': 'no',
      'Layouts that are calibrated': 'TriangularLatticeLayout(61, 5.0µm)',
    });
    expect(channels.map((row) => Object.fromEntries(row))).toEqual([
      {
        Channel: 'rydberg_global',
        Basis: 'ground-rydberg',
        Addressing: 'Global',
        'Amplitude at most': '12.566 rad/µs',
        'Detuning at most': '125.664 rad/µs',
        'Duration of a pulse': '16 – 100,000,000 ns, in steps of 4 ns',
        Bandwidth: '8 MHz',
      },
    ]);
  });

  it('leaves out what an emulator does not bound, and lists its detuning maps', () => {
    const { facts = [], channels = [] } = describeSpecification(specifications.EMU_MPS) ?? {};
    expect(facts.map(([name]) => name)).not.toContain('Distance from the center at most');
    const rows = channels.map((row) => Object.fromEntries(row));
    expect(rows.map(({ Channel }) => Channel)).toEqual([
      'rydberg_global',
      'rydberg_local',
      'raman_global',
      'raman_local',
      'mw_global',
      'dmm_0',
    ]);
    expect(rows[0]).toMatchObject({ 'Amplitude at most': 'no bound', 'Duration of a pulse': '≥ 1 ns' });
  });

  it.each(['', '[]', 'null', '{'])('has no words for %j', (text) => {
    expect(describeSpecification(text)).toBeUndefined();
  });

  it.each(['{}', '{"channels":[null,{}],"dmm_objects":7,"pre_calibrated_layouts":[null],"max_runs":"many"}'])(
    'describes an odd one, %s',
    (text) => {
      expect(describeSpecification(text)).toBeDefined();
    },
  );
});
