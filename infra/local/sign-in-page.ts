/**
 * The issuer's page to sign in at, for applications in a browser: authorization code with PKCE (RFC
 * 7636). Codes and refresh tokens are kept in memory, so a restart ends them.
 */

import { createHash, randomBytes } from 'node:crypto';
import { escapeHtml } from '../../functions/http/page.ts';
import type { Account } from './demo/accounts.ts';
import { Refusal } from './refusal.ts';

type Parameters = Readonly<Record<string, string>>;

interface HtmlAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

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

export function createSignInPage(findAccount: (username: string, password: string) => Account | undefined) {
  const codes = new Map<string, Code>();
  const refreshTokens = new Map<string, Grant>();

  return {
    /**
     * The page for a request to sign in, or what follows its form: a way back with a code. `form`
     * is what was entered. Throws Refusal where nobody may be sent back.
     */
    answer(query: Parameters, form?: Parameters): HtmlAnswer {
      const { redirect_uri: redirectUri = '', client_id: clientId = '', state, code_challenge: challenge } = query;
      if (clientId === '') throw new Refusal('invalid_request', 'client_id is missing.');
      if (!isLoopback(redirectUri)) throw new Refusal('invalid_request', 'redirect_uri is no address of this machine.');
      const goBack = (parameters: Parameters): HtmlAnswer => {
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

function page(redirectUri: string, problem?: string): HtmlAnswer {
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign in</title>
<link rel="icon" href="data:,">
</head>
<body>
<main>
<h1>Sign in</h1>
<p>The accounts of this local stack: demo, guest and operator. Each has its name as its password.</p>
${problem === undefined ? '' : `<p role="alert"><strong>${escapeHtml(problem)}</strong></p>`}
<form method="post">
<p><label>Username<br><input name="username" autocomplete="username" required autofocus></label></p>
<p><label>Password<br><input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button>Sign in</button></p>
</form>
</main>
</body>
</html>
`;
  const policy = `default-src 'none'; img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self' ${new URL(redirectUri).origin}`;
  return {
    status: problem === undefined ? 200 : 401,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
    },
    body,
  };
}
