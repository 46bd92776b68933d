import { setTimeout as wait } from 'node:timers/promises';
import { deviceAccount } from '../issuer/accounts.ts';
import type { Issuer } from '../issuer/issuer.ts';
import specs from './device-specs.json' with { type: 'json' };

/** Announces the devices of device-specs.json, as their machines would. Emulators are public. */
export async function announceDevices(stack: { readonly baseUrl: string; readonly issuer: Issuer }): Promise<void> {
  const token = await stack.issuer.token(deviceAccount);
  await Promise.all(
    Object.entries(specs).map(async ([type, text]) => {
      const response = await callPatiently(`${stack.baseUrl}/api/v1/devices/${type}`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${token}` },
        body: JSON.stringify({ status: 'UP', specs: text }),
      });
      if (!response.ok) throw new Error(`The device ${type} was not announced: ${await response.text()}`);
    }),
  );
}

/** Calls go on for so long that the authorizer has asked several times for the issuer's keys. */
const maxAttempts = 30;

/** On a busy machine functions and issuer answer too late: machines repeat their calls. */
export async function callPatiently(url: string, request: RequestInit): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, request);
    if (response.status < 500 || attempt === maxAttempts) return response;
    await wait(2_000);
  }
}
