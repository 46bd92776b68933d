import { deviceAccount } from '../issuer/accounts.ts';
import type { Issuer } from '../issuer/issuer.ts';
import specs from './device-specs.json' with { type: 'json' };

/** Announces the devices of device-specs.json, as their machines would. Emulators are public. */
export async function announceDevices(stack: { readonly baseUrl: string; readonly issuer: Issuer }): Promise<void> {
  const token = await stack.issuer.token(deviceAccount);
  await Promise.all(
    Object.entries(specs).map(async ([type, text]) => {
      const response = await announce(`${stack.baseUrl}/api/v1/devices/${type}`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${token}` },
        body: JSON.stringify({ status: 'UP', specs: text }),
      });
      if (!response.ok) throw new Error(`The device ${type} was not announced: ${await response.text()}`);
    }),
  );
}

/** On a busy machine a function may start too late for its first calls: machines repeat them. */
async function announce(url: string, request: RequestInit): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, request);
    if (response.status < 500 || attempt === 5) return response;
  }
}
