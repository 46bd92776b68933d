import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { escapeHtml, pageFunction } from '../../http/page.ts';
import { requiredEnv } from '../../runtime/env.ts';

const { CONSOLE_CLIENT_ID = '', CONSOLE_AUDIENCE = '', TOKEN_ORIGIN } = process.env;
const issuer = requiredEnv('ISSUER');

const facts = { issuer, 'client-id': CONSOLE_CLIENT_ID, audience: CONSOLE_AUDIENCE };

/** The console. Its code is in console/, and is bundled for browsers beside this function. */
export const handler = pageFunction(
  {
    title: 'Quantum Batch Console',
    head: Object.entries(facts)
      .map(([name, content]) => `<meta name="${name}" content="${escapeHtml(content)}">`)
      .join('\n'),
    body: '<div id="console"><noscript>The console needs JavaScript.</noscript></div>',
    // Some issuers give tokens at another address than their own.
    origins: [...new Set([issuer, TOKEN_ORIGIN ?? issuer].map((url) => new URL(url).origin))],
  },
  readdirSync(import.meta.dirname)
    .filter((name) => /^page\.(css|js)$|\.woff2$/.test(name))
    .sort()
    .map((name) => join(import.meta.dirname, name)),
);
