import { describe, expect, it } from 'vitest';
import { fittingDevices } from '../../../../functions/console/entry/device-choice.ts';
import { type Program, readProgram } from '../../../../functions/console/entry/program.ts';
import type { Device } from '../../../../functions/schemas/device.ts';
import { exampleSequence } from '../../../../functions/schemas/example-sequence.ts';

const program: Program = { ...readProgram(exampleSequence)!, deviceName: 'AnalogDevice', isVirtual: false };

function device(device_type: string, content: Partial<Device> = {}): Device {
  return {
    ...{ device_type, status: 'UP', availability: 'ACTIVE', queue_length: 0, mode: 'OPEN', status_message: null },
    ...{ available_at: null, windows: [], average_queue_time: null, idle_seconds: 120, max_atom_num: 10 },
    ...{ is_emulator: false, channels: [{ id: 'rydberg_global' }] },
    ...content,
  } as Device;
}

const best = (devices: readonly Device[], names = {}, of = program) =>
  fittingDevices(of, devices, names).map(({ device_type }) => device_type);

describe('the device of a program', () => {
  it('is the one that it was made for, by the name of its specification or its own', () => {
    expect(best([device('A'), device('LAB_1')], { LAB_1: 'AnalogDevice' })).toEqual(['LAB_1', 'A']);
    expect(best([device('A'), device('AnalogDevice')])).toEqual(['AnalogDevice', 'A']);
  });

  it('has enough atoms, and its channels', () => {
    const few = device('FEW', { max_atom_num: 1 });
    const other = device('OTHER', { channels: [{ id: 'raman_local' }] });
    expect(best([few, other])).toEqual([]);
    expect(best([few, device('A', { max_atom_num: null, channels: null })])).toEqual(['A']);
  });

  it('works now, and is of the kind that the program was made for', () => {
    const inactive = device('DOWN', { availability: 'INACTIVE' });
    const emulator = device('EMU_SV', { is_emulator: true });
    expect(best([inactive, emulator, device('A')])).toEqual(['A', 'EMU_SV', 'DOWN']);
    expect(best([device('A'), emulator], {}, { ...program, isVirtual: true })).toEqual(['EMU_SV', 'A']);
  });

  it('takes batches', () => {
    expect(best([device('AnalogDevice', { mode: 'CLOSED' })])).toEqual([]);
  });

  it('is found by its name alone for a program that is no Pulser sequence', () => {
    const other: Program = { ...program, isPulser: false };
    expect(best([device('A')], {}, other)).toEqual([]);
    expect(best([device('A'), device('B')], { B: 'AnalogDevice' }, other)).toEqual(['B']);
  });
});
