/**
 * The issuer's page to sign in at, for applications in a browser: authorization code with PKCE (RFC
 * 7636), and a session of the browser, so that the next sign-in asks for nothing. Codes, refresh
 * tokens and sessions are kept in memory, so a restart ends them.
 */

import { createHash, randomBytes } from 'node:crypto';
import type { HttpReply } from '../../../functions/http/reply.ts';
import { Refusal } from '../service/refusal.ts';
import type { Account } from './accounts.ts';
import { type BrowserSessions, createBrowserSessions } from './browser-sessions.ts';
import { formPage, signedOutPage } from './sign-in-form.ts';

type Parameters = Readonly<Record<string, string>>;

/** What a browser asks of the page. */
export interface SignInRequest {
  readonly query: Parameters;
  /** What was entered, or the account that was chosen; undefined when the page is opened. */
  readonly form?: Parameters | undefined;
  readonly cookies?: string | undefined;
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

export type SignInPage = ReturnType<typeof createSignInPage>;

interface SignInPageOptions {
  /** The issuer's: it distinguishes the cookies of issuers on one machine. */
  readonly url: string;
  readonly accounts: readonly Account[];
  /** Of the console, for the looks of the pages. */
  readonly stylesheet?: string | undefined;
}

export function createSignInPage({ url, accounts, stylesheet }: SignInPageOptions) {
  const codes = new Map<string, Code>();
  const refreshTokens = new Map<string, Grant>();
  const sessions = createBrowserSessions(url);

  return {
    /**
     * The page for a request to sign in, or a way back with a code: after its form, and at once
     * where the browser has a session. Throws Refusal if the user may not be sent back.
     */
    answer({ query, form, cookies }: SignInRequest): HttpReply {
      const { redirect_uri: redirectUri = '', client_id: clientId = '', code_challenge: challenge } = query;
      if (clientId === '') throw new Refusal('invalid_request', 'client_id is missing.');
      requireLoopback('redirect_uri', redirectUri);
      const goBack = (parameters: Parameters) => redirect(redirectUri, query, parameters);
      if (query.response_type !== 'code') return goBack({ error: 'unsupported_response_type' });
      if (challenge === undefined || query.code_challenge_method !== 'S256') {
        return goBack({ error: 'invalid_request', error_description: 'PKCE with S256 is required.' });
      }
      const prompts = (query.prompt ?? '').split(' ').filter(Boolean);
      if (prompts.includes('none') && prompts.length > 1) {
        return goBack({ error: 'invalid_request', error_description: 'prompt=none goes with no other prompt.' });
      }
      const entered = form === undefined ? sessionOf(sessions, cookies, prompts) : findEntered(accounts, form);
      if (entered === undefined && prompts.includes('none')) return goBack({ error: 'login_required' });
      if (entered === undefined) return formPage({ accounts, redirectUri, form, stylesheet });
      const code = randomText();
      codes.set(code, { account: entered, clientId, redirectUri, challenge, until: Date.now() + codeMilliseconds });
      const reply = goBack({ code });
      if (form === undefined) return reply;
      return { ...reply, headers: { ...reply.headers, 'Set-Cookie': sessions.begin(entered, cookies) } };
    },

    /**
     * Ends the session of the browser. It goes to `post_logout_redirect_uri`, if there is one.
     * Throws Refusal, and ends nothing, if it may not be sent there.
     */
    signOut({ query, cookies }: SignInRequest): HttpReply {
      const { post_logout_redirect_uri: target } = query;
      if (target !== undefined) requireLoopback('post_logout_redirect_uri', target);
      const reply = target === undefined ? signedOutPage(stylesheet) : redirect(target, query, {});
      return { ...reply, headers: { ...reply.headers, 'Set-Cookie': sessions.end(cookies) } };
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

/** Who has signed in with this browser, unless they are to be asked again. */
function sessionOf(sessions: BrowserSessions, cookies: string | undefined, prompts: readonly string[]) {
  const asksAgain = prompts.includes('login') || prompts.includes('select_account');
  return asksAgain ? undefined : sessions.find(cookies);
}

/** An account that the page offers needs no password there: the page says it anyway. */
function findEntered(accounts: readonly Account[], { account: chosen, username, password }: Parameters) {
  if (chosen !== undefined) return accounts.find((each) => each.about !== undefined && each.username === chosen);
  return accounts.find((each) => each.username === username && each.password === password);
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

/** The answer that leads to the application, with the state that it sent. */
function redirect(address: string, { state }: Parameters, parameters: Parameters): HttpReply {
  const location = new URL(address);
  for (const [name, value] of Object.entries({ ...parameters, ...(state !== undefined && { state }) })) {
    location.searchParams.set(name, value);
  }
  return { status: 303, headers: { Location: location.href, 'Cache-Control': 'no-store' }, body: '' };
}

/** Browsers are sent to applications on this machine only. Throws Refusal. */
function requireLoopback(parameter: string, text: string): void {
  if (URL.canParse(text)) {
    const { protocol, hostname } = new URL(text);
    if (protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname)) return;
  }
  throw new Refusal('invalid_request', `${parameter} is no address of this machine.`);
}
