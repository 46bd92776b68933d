import { setTimeout as wait } from 'node:timers/promises';
import { deviceAccount } from '../issuer/accounts.ts';
import type { Issuer } from '../issuer/issuer.ts';
import specs from './device-specs.json' with { type: 'json' };

/** The emulator measures without noise. With its time, a further start of a stack repeats it. */
const calibration = {
  numbers: { state_prep_error: 0, p_false_pos: 0, p_false_neg: 0 },
  valid_from: '2026-01-01T00:00:00Z',
};

/**
 * Announces the devices of device-specs.json, as their machines would. Emulators are public. The
 * device that takes the place of a QPU reports a calibration.
 */
export async function announceDevices(stack: { readonly baseUrl: string; readonly issuer: Issuer }): Promise<void> {
  const token = await stack.issuer.token(deviceAccount);
  const send = async (method: string, path: string, content: object) => {
    const headers = { Authorization: `Bearer ${token}` };
    const request = { method, headers, body: JSON.stringify(content) };
    const response = await callPatiently(`${stack.baseUrl}/api/v1/devices/${path}`, request);
    if (!response.ok) throw new Error(`${method} of the device ${path} failed: ${await response.text()}`);
  };
  // One after the other: concurrent calls would each start another environment.
  for (const [type, text] of Object.entries(specs)) await send('PUT', type, { status: 'UP', specs: text });
  await send('POST', 'FRESNEL/calibrations', calibration);
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
