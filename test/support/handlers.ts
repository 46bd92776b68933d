import { join } from 'node:path';
import type { Handler } from '../../functions/http/http-function.ts';
import { type RouteName, routes } from '../../functions/routes.ts';

/** The handler of a route, loaded by its `entry`: after the environment is set. */
export async function loadHandler(name: RouteName): Promise<Handler> {
  const file = join(import.meta.dirname, '../../functions', `${routes[name].entry}.ts`);
  const { handler } = await import(/* @vite-ignore */ file);
  return handler;
}

/** The handlers of several routes. */
export async function loadHandlers<Name extends RouteName>(names: readonly Name[]): Promise<Record<Name, Handler>> {
  const loaded = await Promise.all(names.map(async (name) => [name, await loadHandler(name)] as const));
  return Object.fromEntries(loaded) as Record<Name, Handler>;
}
