/** What the page says of its service, in `meta` elements: see endpoints/console/console-page.ts. */

export interface Settings {
  /** The OpenID Connect issuer at which people sign in. */
  readonly issuer: string;
  /** The console's client there; undefined where the operator has not named one. */
  readonly clientId: string | undefined;
  /** What tokens are asked for: the API accepts no other. */
  readonly audience: string | undefined;
}

export function readSettings(): Settings {
  return { issuer: meta('issuer') ?? '', clientId: meta('client-id'), audience: meta('audience') };
}

function meta(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content || undefined;
}

/** The address of the page, without what follows `?` and `#`: people come back to it. */
export function pageAddress(): string {
  return location.origin + location.pathname;
}

/** Where the API is: the page is one of its paths. */
export function apiAddress(): string {
  return pageAddress().replace(/\/console$/, '');
}
