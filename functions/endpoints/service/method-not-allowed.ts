import { MethodNotAllowed, UnknownRoute } from '../../errors.ts';
import { httpFunction } from '../../http/http-function.ts';
import { escapeHtml, htmlReply } from '../../http/page.ts';
import { type Route, routes } from '../../routes.ts';

const everyRoute: readonly Route[] = Object.values(routes);

/** No empty segment: `//docs` as a link would name a host. */
const plainPath = /^(?:\/[^/]+)*\/?$/;

/** Where people go from the service's own address. */
const links = [
  [routes.getConsole.path, 'Console', 'Your batches, devices and results, with a browser.'],
  [routes.getDocs.path, 'API', 'Every call, to read and to try.'],
  [routes.getOpenApi.path, 'OpenAPI document', 'The same for programs.'],
] as const;

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

function firstPage(base: string) {
  const items = links.map(
    ([path, name, what]) => `<li><p><a href="${escapeHtml(base + path)}">${name}</a><br>${what}</p></li>`,
  );
  const title = 'Quantum Batch API';
  return htmlReply({ title, body: `<main>\n<h1>${title}</h1>\n<ul>\n${items.join('\n')}\n</ul>\n</main>` });
}
