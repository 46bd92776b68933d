import { useMemo } from 'preact/hooks';
import type { Device } from '../../schemas/device.ts';
import type { CallFailed } from '../client/public-api.ts';
import { useCall } from '../client/use-call.ts';
import { readObject } from '../ui/json-object.ts';
import { fittingDevices, isOwn } from './device-choice.ts';
import { asWritten, type Draft } from './draft.ts';
import type { Program } from './program.ts';

interface Devices {
  readonly all: readonly Device[];
  readonly failure: CallFailed | undefined;
  readonly reload: () => void;
  /** Whether one of them is the program's own. */
  readonly hasOwn: boolean;
  /** The devices that take the program, the best one first. */
  readonly fitting: readonly Device[];
  /** The one that the draft has chosen, or else the best one. */
  readonly chosen: Device | undefined;
}

/** The announced devices, and which of them is for a program. */
export function useDevices({ device_type }: Pick<Draft, 'device_type'>, program: Program | undefined): Devices {
  const { answer, failure, reload } = useCall<Device[]>('/api/v1/devices');
  const all = answer?.data ?? [];
  const deviceName = program?.deviceName;
  // Only specifications have the names of other devices. They are read for a program that has one.
  const isUnknown =
    deviceName !== undefined && answer !== undefined && !all.some((each) => each.device_type === deviceName);
  const specifications = useCall<Record<string, string>>(isUnknown ? '/api/v1/devices/specs' : null).answer?.data;
  const names = useMemo(
    () =>
      Object.fromEntries(
        Object.entries(specifications ?? {}).map(([type, text]) => {
          const name = readObject(text)?.name;
          return [type, typeof name === 'string' ? name : undefined];
        }),
      ),
    [specifications],
  );
  const fitting = useMemo(
    () => (program === undefined ? [] : fittingDevices(program, all, names)),
    [program, answer, names],
  );
  const chosen = { '': fitting[0], [asWritten]: undefined };
  return {
    all,
    failure,
    reload,
    hasOwn: all.some((each) => deviceName !== undefined && isOwn(each, deviceName, names)),
    fitting,
    chosen: Object.hasOwn(chosen, device_type)
      ? chosen[device_type as '']
      : all.find((each) => each.device_type === device_type),
  };
}
