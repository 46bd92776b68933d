import { MethodNotAllowed } from '../errors.ts';
import { publicEndpoint } from '../http/endpoint.ts';
import { type Route, routes } from '../routes.ts';

const everyRoute: readonly Route[] = Object.values(routes);

/** Any method that a known path does not have: 405, naming those that it has. The gateway itself answers OPTIONS. */
export const handler = publicEndpoint(({ resource }) => {
  const methods = everyRoute.filter((route) => route.path === resource).map((route) => route.method);
  throw new MethodNotAllowed([...methods, 'OPTIONS']);
});
