import { MethodNotAllowed, UnknownRoute } from '../../errors.ts';
import { httpFunction } from '../../http/http-function.ts';
import { type Route, routes } from '../../routes.ts';
import { firstPage } from './first-page.ts';

const everyRoute: readonly Route[] = Object.values(routes);

/** No empty segment: `//docs` as a link would name a host. */
const plainPath = /^(?:\/[^/]+)*\/?$/;

/**
 * Answers whatever no route takes. Who opens the API's own address gets a first page, which leads
 * to the others. A known path with another method is answered 405 with the methods that it has (the
 * gateway itself answers OPTIONS), any other path 404.
 */
export const handler = httpFunction(({ resource, httpMethod, requestContext }) => {
  if (resource === '/' && httpMethod === 'GET' && plainPath.test(requestContext.path)) {
    return firstPage(requestContext.path.replace(/\/$/, ''));
  }
  const methods = everyRoute.filter((route) => route.path === resource).map((route) => route.method);
  if (methods.length === 0) throw new UnknownRoute('There is no such route.');
  throw new MethodNotAllowed([...methods, 'OPTIONS']);
});
