import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Device } from '../../schemas/device.ts';

/** The devices that the service knows, retired ones too; undefined until they are known. */
export const KnownDevices = createContext<readonly Device[] | undefined>(undefined);

/** Whether a device type has been announced; true as long as the devices are not known. */
export function useIsAnnounced(): (deviceType: string) => boolean {
  const devices = useContext(KnownDevices);
  return (deviceType) => devices?.some(({ device_type }) => device_type === deviceType) ?? true;
}
