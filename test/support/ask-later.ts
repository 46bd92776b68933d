import { vi } from 'vitest';
import type { RouteName } from '../../functions/routes.ts';
import { ask } from './ask.ts';
import type { GatewayRequest } from './gateway-event.ts';

let calls = 0;

/** Asks at a later time than all such calls before: what functions keep for 10 s is read again. */
export async function askLater(route: RouteName, request: GatewayRequest) {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ++calls * 11_000);
  try {
    return await ask(route, request);
  } finally {
    clock.mockRestore();
  }
}
