import { randomBytes } from 'node:crypto';
import type { Account } from './accounts.ts';

/** Who has signed in with which browser. A browser names its session by a cookie. */
export interface BrowserSessions {
  /** Whose session the `Cookie` header names. */
  find(cookies: string | undefined): Account | undefined;
  /** Begins a session, in place of the one that the browser has. The result is its `Set-Cookie`. */
  begin(account: Account, cookies: string | undefined): string;
  /** Ends the browser's session. The result is the `Set-Cookie` that takes the cookie away. */
  end(cookies: string | undefined): string;
}

/**
 * Sessions of the issuer at this address. The cookie ends with the browser. Browsers share cookies
 * between all ports of a host, so its name has the port: stacks on one machine keep apart.
 */
export function createBrowserSessions(url: string): BrowserSessions {
  const accounts = new Map<string, Account>();
  const { port, pathname } = new URL(url);
  const name = `issuer-${port || 'default'}`;
  const cookie = (value: string) => `${name}=${value}; Path=${pathname}; HttpOnly; SameSite=Lax`;
  const idIn = (cookies = '') =>
    cookies
      .split(';')
      .map((each) => each.trim().split('='))
      .find(([each]) => each === name)?.[1] ?? '';

  return {
    find: (cookies) => accounts.get(idIn(cookies)),
    begin(account, cookies) {
      accounts.delete(idIn(cookies));
      const id = randomBytes(32).toString('base64url');
      accounts.set(id, account);
      return cookie(id);
    },
    end(cookies) {
      accounts.delete(idIn(cookies));
      return `${cookie('')}; Max-Age=0`;
    },
  };
}
