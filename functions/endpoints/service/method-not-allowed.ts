import { MethodNotAllowed, UnknownRoute } from '../../errors.ts';
import { httpFunction } from '../../http/endpoint.ts';
import { type Route, routes } from '../../routes.ts';

const everyRoute: readonly Route[] = Object.values(routes);

/** No empty segment: `//docs` as a location would name a host. */
const plainPath = /^(?:\/[^/]+)*\/?$/;

/**
 * Answers whatever no route takes. Who opens the API's own address is sent to the page of its
 * description. A known path with another method is answered 405 with the methods that it has (the
 * gateway itself answers OPTIONS), any other path 404.
 */
export const handler = httpFunction(({ resource, httpMethod, requestContext }) => {
  if (resource === '/' && httpMethod === 'GET' && plainPath.test(requestContext.path)) {
    const location = `${requestContext.path.replace(/\/$/, '')}${routes.getDocs.path}`;
    return { status: 302, headers: { Location: location, 'Cache-Control': 'no-cache' }, body: '' };
  }
  const methods = everyRoute.filter((route) => route.path === resource).map((route) => route.method);
  if (methods.length === 0) throw new UnknownRoute('There is no such route.');
  throw new MethodNotAllowed([...methods, 'OPTIONS']);
});
