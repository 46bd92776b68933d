/** Pages for people with a browser: an HTML document, and the files that it loads. */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { NotFound } from '../errors.ts';
import { type Handler, httpFunction } from './http-function.ts';
import { iconAddress } from './mark.ts';
import type { HttpReply } from './reply.ts';

interface PageFile {
  readonly name: string;
  readonly mediaType: string;
  /** Its content, gzipped, as base64. It is made once. */
  readonly gzipped: () => string;
  /** Its content by Brotli, as base64; undefined where the build has not made it. */
  readonly brotli: string | undefined;
  /** Of its content. */
  readonly hash: string;
}

interface PageContent {
  readonly title: string;
  /** HTML of the head, before the files; without scripts and styles, which do not run. */
  readonly head?: string;
  /** HTML of the body. */
  readonly body: string;
  /** Origins that the page may call beside its own. */
  readonly origins?: readonly string[];
  /** Where its forms may lead. Without it they lead nowhere. */
  readonly formTargets?: readonly string[];
  /**
   * The address of a stylesheet of another page, for a page that runs nothing. It may load fonts.
   */
  readonly stylesheet?: string;
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.woff2': 'font/woff2',
};

/**
 * Answers with a page, and with the files that it loads: `?file=` names one, `&hash=` its content.
 * Throws at once when a file does not exist, or is of a kind that no page loads.
 *
 * Files are always sent gzipped, which every browser accepts. Plain, they are four times as large,
 * and any client can ask for them as often as the gateway allows. A browser that accepts Brotli
 * gets what the build has compressed with it, in `NAME.br`: a start would take seconds for that.
 */
export function pageFunction(content: PageContent, paths: readonly string[]): Handler {
  const files = readPageFiles(paths);
  const page = htmlReply(content, [...files.values()]);
  return httpFunction(({ headers, queryStringParameters }) => {
    const { file: name, hash } = queryStringParameters ?? {};
    if (name === undefined) return isCurrent(headers, page) ? { ...page, status: 304, body: '' } : page;
    // Stylesheets name fonts as paths.
    const file = files.get(basename(name));
    if (file === undefined) throw new NotFound('The page has no such file.');
    const brotli = acceptsBrotli(headers) ? file.brotli : undefined;
    return {
      status: 200,
      headers: {
        'Content-Type': file.mediaType,
        'Content-Encoding': brotli === undefined ? 'gzip' : 'br',
        Vary: 'Accept-Encoding',
        // Another hash is that of another release, whose page is still open: it gets the file, but
        // may not keep it under that name.
        'Cache-Control': hash === file.hash || isFont(file) ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
      body: brotli ?? file.gzipped(),
      isBase64Encoded: true,
    };
  });
}

/** The name of a font has the hash of its content already. */
function isFont({ mediaType }: PageFile): boolean {
  return mediaType.startsWith('font/');
}

/**
 * The answer that is the page: an HTML document that loads the files in their order. Its links are
 * relative, so that it works below any path. It may load its own files and call its own origin and
 * `origins`. Inline scripts do not run, and inline styles have no effect.
 */
export function htmlReply(
  { title, head = '', body, origins = [], formTargets = ["'none'"], stylesheet }: PageContent,
  files: readonly PageFile[] = [],
): HttpReply {
  // A page without files runs nothing.
  const runs = files.length > 0 ? ["script-src 'self'", ["connect-src 'self'", ...origins].join(' ')] : [];
  const isStyled = files.length > 0 || stylesheet !== undefined;
  const links = files.map((file) => {
    const { name, hash, mediaType } = file;
    if (isFont(file)) return `<link rel="preload" as="font" type="${mediaType}" href="?file=./${name}" crossorigin>`;
    const address = `?file=${name}&amp;hash=${hash}`;
    if (mediaType.startsWith('text/css')) return `<link rel="stylesheet" href="${address}">`;
    return `<script ${name.endsWith('.mjs') ? 'type="module"' : 'defer'} src="${address}"></script>`;
  });
  if (stylesheet !== undefined) links.unshift(`<link rel="stylesheet" href="${escapeHtml(stylesheet)}">`);
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${iconAddress}">
${[head, ...links].filter(Boolean).join('\n')}
</head>
<body>
${body}
</body>
</html>
`;
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': [
        "default-src 'none'",
        ...runs,
        ...(isStyled ? ["style-src 'self'", "font-src 'self'"] : []),
        // Images of stylesheets may be `data:`, such as Swagger UI's icons.
        "img-src 'self' data:",
        "base-uri 'none'",
        ['form-action', ...formTargets].join(' '),
        "frame-ancestors 'none'",
      ].join('; '),
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
      ETag: `"${hashOf(text)}"`,
    },
    body: text,
  };
}

function readPageFiles(paths: readonly string[]): ReadonlyMap<string, PageFile> {
  return new Map(
    paths.map((path) => {
      const mediaType = mediaTypes[extname(path)];
      if (mediaType === undefined) throw new Error(`The page does not load files like ${path}.`);
      const content = readFileSync(path);
      const name = basename(path);
      let gzipped: string | undefined;
      const brotli = existsSync(`${path}.br`) ? readFileSync(`${path}.br`, 'base64') : undefined;
      return [
        name,
        {
          name,
          mediaType,
          gzipped: () => (gzipped ??= gzipSync(content).toString('base64')),
          brotli,
          hash: hashOf(content),
        },
      ];
    }),
  );
}

type Headers = Readonly<Record<string, string | undefined>>;

function headerOf(headers: Headers, name: string): string {
  return Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1] ?? '';
}

/** Whether `Accept-Encoding` names Brotli, and does not refuse it. */
function acceptsBrotli(headers: Headers): boolean {
  const codings = headerOf(headers, 'accept-encoding').toLowerCase().split(',');
  return codings.some((coding) => /^\s*br\s*(;\s*q=(1|0?\.0*[1-9]).*)?$/.test(coding));
}

/** Whether the browser has this very page already. */
function isCurrent(headers: Headers, page: HttpReply): boolean {
  const known = headerOf(headers, 'if-none-match');
  return known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === page.headers.ETag);
}

/** Distinguishes contents: 96 bits of SHA-256. */
function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 24);
}

/** The text as HTML shows it, also within an attribute. */
export function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => names[character]!);
}
