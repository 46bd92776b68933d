/** Which announced device a program is for. */

import { deviceModes } from '../../device-modes.ts';
import type { Device } from '../../schemas/device.ts';
import type { Program } from './program.ts';

/** Specifications by device type: JSON texts, parsed as far as they are needed. */
type SpecificationNames = Readonly<Record<string, string | undefined>>;

/** Whether a device takes batches now. */
export function takesBatches({ mode }: Device): boolean {
  return deviceModes[mode].accepts;
}

/** Whether a device is the one of this name. */
export function isOwn({ device_type }: Device, name: string, names: SpecificationNames): boolean {
  return names[device_type] === name || device_type === name;
}

/**
 * The devices that take the program, the best one first: the one that it was made for, by the name
 * of its specification or by its own; then the devices that work now, and are of the same kind,
 * virtual or not. `names` are the names in the devices' specifications.
 */
export function fittingDevices(
  program: Program,
  devices: readonly Device[],
  names: SpecificationNames,
): readonly Device[] {
  const { deviceName, isVirtual } = program;
  const owns = (device: Device) => deviceName !== undefined && isOwn(device, deviceName, names);
  const rank = (device: Device) =>
    (owns(device) ? 0 : 4) + (device.availability === 'ACTIVE' ? 0 : 2) + (device.is_emulator === isVirtual ? 0 : 1);
  return devices
    .filter((device) => takesBatches(device) && (owns(device) || hasRoom(program, device)))
    .toSorted((a, b) => rank(a) - rank(b));
}

/** Whether its specification has the atoms and the channels; true where it says nothing of them. */
function hasRoom({ qubits = 0, channels: used, isPulser }: Program, { max_atom_num, channels }: Device): boolean {
  if (!isPulser) return false;
  if (max_atom_num !== null && qubits > max_atom_num) return false;
  const ids = new Set(channels?.map(({ id }) => id));
  // Detuning maps are no channels of a device.
  return channels === null || used.every((id) => ids.has(id) || id.startsWith('dmm'));
}
