import { NotFound } from '../../errors.ts';
import { httpFunction } from '../../http/endpoint.ts';
import { routes } from '../../routes.ts';
import { docsPage } from './docs-page.ts';
import { readPageFiles } from './page-files.ts';

const files = readPageFiles(routes.getDocs.files);
const page = docsPage([...files.values()]);

/**
 * Answers with the page, and with the files that it loads: `?file=` names one, `&hash=` its
 * content. Files are always sent gzipped, as every browser takes them, because anyone can ask for
 * them as often as the gateway lets them, and plain they are four times as large.
 */
export const handler = httpFunction(({ headers, queryStringParameters }) => {
  const { file: name, hash } = queryStringParameters ?? {};
  if (name === undefined) return isCurrent(headers) ? { ...page, status: 304, body: '' } : page;
  const file = files.get(name);
  if (file === undefined) throw new NotFound('The page has no such file.');
  return {
    status: 200,
    headers: {
      'Content-Type': file.mediaType,
      'Content-Encoding': 'gzip',
      // Another hash is that of another release, whose page is still open: it gets the file, but
      // may not keep it under that name.
      'Cache-Control': hash === file.hash ? 'public, max-age=31536000, immutable' : 'no-cache',
    },
    body: file.gzipped(),
    isBase64Encoded: true,
  };
});

/** Whether the browser has this very page already. */
function isCurrent(headers: Readonly<Record<string, string | undefined>>): boolean {
  const known = Object.entries(headers).find(([name]) => name.toLowerCase() === 'if-none-match')?.[1] ?? '';
  return known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === page.headers.ETag);
}
