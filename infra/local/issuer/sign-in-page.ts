/**
 * The issuer's page to sign in at, for applications in a browser: authorization code with PKCE (RFC
 * 7636). Codes and refresh tokens are kept in memory, so a restart ends them.
 */

import { createHash, randomBytes } from 'node:crypto';
import { escapeHtml, htmlReply } from '../../../functions/http/page.ts';
import type { HttpReply } from '../../../functions/http/reply.ts';
import { Refusal } from '../service/refusal.ts';
import type { Account } from './accounts.ts';

type Parameters = Readonly<Record<string, string>>;

const codeMilliseconds = 60_000;

interface Grant {
  readonly account: Account;
  readonly clientId: string;
}

interface Code extends Grant {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly until: number;
}

export type SignInPage = ReturnType<typeof createSignInPage>;

export function createSignInPage(findAccount: (username: string, password: string) => Account | undefined) {
  const codes = new Map<string, Code>();
  const refreshTokens = new Map<string, Grant>();

  return {
    /**
     * The page for a request to sign in, or what follows its form: a way back with a code. `form`
     * is what was entered. Throws Refusal if the user may not be sent back.
     */
    answer(query: Parameters, form?: Parameters): HttpReply {
      const { redirect_uri: redirectUri = '', client_id: clientId = '', state, code_challenge: challenge } = query;
      if (clientId === '') throw new Refusal('invalid_request', 'client_id is missing.');
      if (!isLoopback(redirectUri)) throw new Refusal('invalid_request', 'redirect_uri is no address of this machine.');
      const goBack = (parameters: Parameters): HttpReply => {
        const location = new URL(redirectUri);
        for (const [name, value] of Object.entries({ ...parameters, ...(state !== undefined && { state }) })) {
          location.searchParams.set(name, value);
        }
        return { status: 303, headers: { Location: location.href, 'Cache-Control': 'no-store' }, body: '' };
      };
      if (query.response_type !== 'code') return goBack({ error: 'unsupported_response_type' });
      if (challenge === undefined || query.code_challenge_method !== 'S256') {
        return goBack({ error: 'invalid_request', error_description: 'PKCE with S256 is required.' });
      }
      if (form === undefined) return page(redirectUri);
      const account = findAccount(form.username ?? '', form.password ?? '');
      if (account === undefined) return page(redirectUri, 'Wrong username or password.');
      const code = randomText();
      codes.set(code, { account, clientId, redirectUri, challenge, until: Date.now() + codeMilliseconds });
      return goBack({ code });
    },

    /** Whose code or refresh token it is. Each counts once. Throws Refusal. */
    redeem(parameters: Parameters): Grant {
      const grant = parameters.grant_type === 'refresh_token' ? refreshed(parameters) : redeemed(parameters);
      if (grant === undefined || grant.clientId !== parameters.client_id) {
        throw new Refusal('invalid_grant', 'The code or refresh token is not valid, or no longer.');
      }
      return grant;
    },

    /** Another token that renews this grant. */
    refreshToken(grant: Grant): string {
      const token = randomText();
      refreshTokens.set(token, grant);
      return token;
    },
  };

  function refreshed({ refresh_token: token = '' }: Parameters): Grant | undefined {
    const grant = refreshTokens.get(token);
    refreshTokens.delete(token);
    return grant;
  }

  function redeemed({ code: text = '', redirect_uri, code_verifier = '' }: Parameters): Grant | undefined {
    const code = codes.get(text);
    codes.delete(text);
    if (code === undefined || code.until < Date.now() || code.redirectUri !== redirect_uri) return undefined;
    const challenge = createHash('sha256').update(code_verifier).digest('base64url');
    return challenge === code.challenge ? code : undefined;
  }
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

/** Codes are handed to applications on this machine only. */
function isLoopback(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}

function page(redirectUri: string, problem?: string): HttpReply {
  const body = `<main>
<h1>Sign in</h1>
<p>The accounts of this local stack: demo and guest; admin, member and viewer of one project; operator. Each has its name as its password.</p>
${problem === undefined ? '' : `<p role="alert"><strong>${escapeHtml(problem)}</strong></p>`}
<form method="post">
<p><label>Username<br><input name="username" autocomplete="username" required autofocus></label></p>
<p><label>Password<br><input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button>Sign in</button></p>
</form>
</main>`;
  // Chromium also asks whether the form may lead where its answer leads.
  const reply = htmlReply({ title: 'Sign in', body, formTargets: ["'self'", new URL(redirectUri).origin] });
  const status = problem === undefined ? 200 : 401;
  return { ...reply, status, headers: { ...reply.headers, 'Cache-Control': 'no-store' } };
}
