/** The pages that the issuer shows to people. They need no JavaScript. */

import { mark } from '../../../functions/http/mark.ts';
import { escapeHtml, htmlReply } from '../../../functions/http/page.ts';
import type { HttpReply } from '../../../functions/http/reply.ts';
import type { Account } from './accounts.ts';

interface FormPage {
  readonly accounts: readonly Account[];
  /** Where the form leads in the end. */
  readonly redirectUri: string;
  /** What was entered, and was wrong; undefined when the page is opened. */
  readonly form: Readonly<Record<string, string>> | undefined;
  /** The address of the console's stylesheet; without it the pages are plain. */
  readonly stylesheet: string | undefined;
}

/** The page that asks who is here: 200, or 401 after what was wrong. */
export function formPage({ accounts, redirectUri, form, stylesheet }: FormPage): HttpReply {
  const offered = accounts.flatMap(({ username, about }) =>
    about === undefined ? [] : [accountButton(username, about)],
  );
  const problem = form === undefined ? '' : '<p class="failure" role="alert">Wrong username or password.</p>\n';
  const body = page(`<h1>Sign in</h1>
<p class="aside">This is a local stack. Choose one of its accounts.</p>
<div class="ways">
<form method="post">
<ul class="accounts">
${offered.join('\n')}
</ul>
</form>
<form method="post" class="entry">
<h2>With a name and a password</h2>
<p class="aside">Each account has its name as its password.</p>
${problem}<p><label for="username">Username</label><input id="username" name="username" autocomplete="username" autocapitalize="none" required value="${escapeHtml(form?.username ?? '')}"></p>
<p><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required></p>
<p><button class="main">Sign in</button></p>
</form>
</div>`);
  // Chromium also asks whether the form may lead where its answer leads.
  const formTargets = ["'self'", new URL(redirectUri).origin];
  const reply = htmlReply({ title: 'Sign in · Quantum Batch', body, formTargets, ...styledBy(stylesheet) });
  return { ...reply, status: form === undefined ? 200 : 401, headers: withoutCache(reply) };
}

/** The page after a sign-out that names no application to go back to. */
export function signedOutPage(stylesheet: string | undefined): HttpReply {
  const body = page('<h1>You have signed out</h1>\n<p class="aside">You can close this page.</p>');
  const reply = htmlReply({ title: 'Signed out · Quantum Batch', body, ...styledBy(stylesheet) });
  return { ...reply, headers: withoutCache(reply) };
}

function page(content: string): string {
  return `<div class="outside">
<main class="sign-in at-issuer">
<p class="brand">${mark}<span>Quantum Batch</span></p>
${content}
</main>
</div>`;
}

function accountButton(username: string, about: string): string {
  const name = escapeHtml(username);
  return `<li><button name="account" value="${name}"><span class="avatar" aria-hidden="true">${name.charAt(0).toUpperCase()}</span><span><strong>${name}</strong> <small>${escapeHtml(about)}</small></span>${arrow}</button></li>`;
}

const arrow = '<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="m6.5 4 4 4-4 4"/></svg>';

const styledBy = (stylesheet: string | undefined) => (stylesheet === undefined ? {} : { stylesheet });

const withoutCache = ({ headers }: HttpReply) => ({ ...headers, 'Cache-Control': 'no-store' });
