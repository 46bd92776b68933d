/** The path of a device in the API; `part` is what follows: `/queue`. */
export function devicePath(deviceType: string, part = ''): string {
  return `/api/v1/devices/${encodeURIComponent(deviceType)}${part}`;
}
