import { hashOf, type PageFile } from './page-files.ts';

/**
 * What the page may do: load its own files and call the API that serves it. Nothing comes from
 * another host, and nothing inline runs or styles. Swagger UI's icons are `data:` images of its
 * stylesheet.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The answer that is the page: an HTML document that loads the files in their order. Its links are
 * relative, so that it works below any path.
 */
export function docsPage(files: readonly PageFile[]) {
  const links = files.map(({ name, hash, mediaType }) => {
    const address = `?file=${name}&amp;hash=${hash}`;
    if (mediaType.startsWith('text/css')) return `<link rel="stylesheet" href="${address}">`;
    return `<script ${name.endsWith('.mjs') ? 'type="module"' : 'defer'} src="${address}"></script>`;
  });
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Quantum Batch API</title>
<link rel="icon" href="data:,">
${links.join('\n')}
</head>
<body>
<div id="docs"><noscript>This page needs JavaScript. The same description, as OpenAPI: <a href="openapi.json">openapi.json</a></noscript></div>
</body>
</html>
`;
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': contentSecurityPolicy,
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
      ETag: `"${hashOf(body)}"`,
    },
    body,
  };
}
