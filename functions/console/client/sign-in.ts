/**
 * Sign-in at the issuer: authorization code with PKCE (RFC 7636), without a secret. Tokens stay in
 * the memory of the page and leave with it. Only what joins the way there and the way back is kept
 * in the tab's storage: a random state, the verifier and the view to come back to.
 *
 * A page that starts without a session, where someone has signed in before, asks the issuer at once
 * whether they still are (`prompt=none`): its cookie answers for them, without a question.
 */

import { apiAddress, pageAddress, type Settings } from './page-settings.ts';
import { forgetSignIn, hasSignedIn, rememberSignIn } from './signed-before.ts';

export interface Session {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** What the token says of the person. */
  readonly userId: string;
  readonly name: string;
  readonly isOperator: boolean;
}

/** Sign-in failed: its text is for people. */
export class SignInFailed extends Error {}

interface Metadata {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly end_session_endpoint?: string;
}

interface Pending {
  readonly state: string;
  readonly verifier: string;
  readonly view: string;
  /** Whether the issuer was asked to answer without a question. */
  readonly isSilent: boolean;
}

const pendingName = 'sign-in';

/** What an issuer answers that may not answer without a question (OpenID Connect Core, 3.1.2.6). */
const questions = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required'];

/** Leaves for the issuer's page. */
export async function beginSignIn(settings: Settings): Promise<void> {
  location.assign(await prepareSignIn(settings, false));
}

/**
 * Whether the page now leaves to ask the issuer who is here. It does so where someone has signed in
 * before, and once only: if the issuer did not lead back, for instance because it showed its page
 * instead, people sign in by the button.
 */
export async function resumeSignIn(settings: Settings): Promise<boolean> {
  if (settings.clientId === undefined || !hasSignedIn()) return false;
  // Only a person reloads a page, for instance while it is leaving.
  if (readPending()?.isSilent === true && !isReload()) {
    takePending();
    forgetSignIn();
    return false;
  }
  let address: string;
  try {
    address = await prepareSignIn(settings, true);
  } catch {
    // The button says what is wrong.
    return false;
  }
  // By Back a browser may show this page as it is now, which does nothing any more.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  // Back leads to what was before this page, and not through the issuer again.
  location.replace(address);
  return true;
}

function isReload(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.type === 'reload';
}

function readPending(): Pending | null {
  return JSON.parse(sessionStorage.getItem(pendingName) ?? 'null') as Pending | null;
}

function takePending(): Pending | null {
  const pending = readPending();
  sessionStorage.removeItem(pendingName);
  return pending;
}

/** The address at the issuer, for a sign-in that this tab expects from now on. */
async function prepareSignIn(settings: Settings, isSilent: boolean): Promise<string> {
  const { authorization_endpoint } = await discover(settings);
  const pending: Pending = { state: randomText(), verifier: randomText(), view: location.hash, isSilent };
  sessionStorage.setItem(pendingName, JSON.stringify(pending));
  const address = new URL(authorization_endpoint);
  const parameters = {
    response_type: 'code',
    client_id: requireClient(settings),
    redirect_uri: pageAddress(),
    scope: 'openid profile email',
    state: pending.state,
    code_challenge: await challengeOf(pending.verifier),
    code_challenge_method: 'S256',
    ...(isSilent && { prompt: 'none' }),
    ...audienceParameters(settings),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}

/** Whether the page was opened by an answer of the issuer. */
export function isAnswered(): boolean {
  const answer = new URLSearchParams(location.search);
  return answer.has('code') || answer.has('error');
}

/**
 * The session of someone who comes back from the issuer's page; undefined where the issuer would
 * have to ask them first. Throws SignInFailed.
 */
export async function finishSignIn(settings: Settings): Promise<Session | undefined> {
  const answer = new URLSearchParams(location.search);
  const pending = takePending();
  // A reload must not send the code again.
  history.replaceState(null, '', pageAddress() + (pending?.view ?? ''));
  if (pending === null || answer.get('state') !== pending.state) {
    throw new SignInFailed('This sign-in was begun in another tab, or has been used already.');
  }
  try {
    const session = await redeem(settings, answer, pending);
    if (session === undefined) forgetSignIn();
    else rememberSignIn();
    return session;
  } catch (error) {
    // It would fail again at each start of the page.
    forgetSignIn();
    throw error;
  }
}

async function redeem(settings: Settings, answer: URLSearchParams, pending: Pending): Promise<Session | undefined> {
  const error = answer.get('error');
  if (error !== null && pending.isSilent && questions.includes(error)) return undefined;
  if (error !== null) throw new SignInFailed(answer.get('error_description') ?? error);
  return requestToken(settings, {
    grant_type: 'authorization_code',
    code: answer.get('code') ?? '',
    redirect_uri: pageAddress(),
    code_verifier: pending.verifier,
  });
}

/** Whether a session can be renewed without the person. */
export function isRenewable(session: Session): boolean {
  return session.refreshToken !== undefined;
}

/** The session with a newer token. Throws SignInFailed where the issuer gives none. */
export async function renew(settings: Settings, session: Session): Promise<Session> {
  if (session.refreshToken === undefined) throw new SignInFailed('The issuer renews no tokens of this page.');
  return requestToken(settings, { grant_type: 'refresh_token', refresh_token: session.refreshToken }, session);
}

async function requestToken(
  settings: Settings,
  parameters: Readonly<Record<string, string>>,
  before?: Session,
): Promise<Session> {
  const { token_endpoint } = await discover(settings);
  const body = new URLSearchParams({
    ...parameters,
    client_id: requireClient(settings),
    ...audienceParameters(settings),
  });
  const response = await fetch(token_endpoint, { method: 'POST', body });
  const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (!response.ok) throw new SignInFailed(String(answer.error_description ?? answer.error ?? response.status));
  return sessionOf(answer, before?.refreshToken);
}

/** An issuer whose access tokens are no JWT gives the API its ID token. */
function sessionOf(answer: Record<string, unknown>, refreshToken: string | undefined): Session {
  const accessToken = [answer.access_token, answer.id_token].find((each) => claimsOf(each) !== undefined);
  const claims = claimsOf(accessToken);
  if (claims === undefined) throw new SignInFailed('The issuer gave no token that the service could read.');
  const person = claimsOf(answer.id_token) ?? claims;
  const userId = String(claims.sub);
  const scopes = [claims.scope, claims.scp].flat().flatMap((each) => String(each ?? '').split(' '));
  const groups = [claims.groups, claims['cognito:groups']].flat();
  return {
    accessToken: accessToken as string,
    refreshToken: typeof answer.refresh_token === 'string' ? answer.refresh_token : refreshToken,
    expiresAt: Number(claims.exp) * 1_000,
    userId,
    name: String(person.name ?? person.preferred_username ?? person.email ?? person.username ?? userId),
    isOperator: scopes.includes('operator') || groups.includes('operators'),
  };
}

function claimsOf(token: unknown): Record<string, unknown> | undefined {
  if (typeof token !== 'string') return undefined;
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (each) =>
      each.charCodeAt(0),
    );
    return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

const found = new Map<string, Promise<Metadata>>();

/** The issuer's discovery document, read once. */
function discover({ issuer }: Settings): Promise<Metadata> {
  const known = found.get(issuer);
  if (known !== undefined) return known;
  const metadata = fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`).then(async (response) => {
    if (!response.ok) throw new SignInFailed(`${issuer} has no discovery document.`);
    return (await response.json()) as Metadata;
  });
  found.set(issuer, metadata);
  metadata.catch(() => found.delete(issuer));
  return metadata;
}

/**
 * From now on the page asks the issuer no more. The result is the page at the issuer that ends its
 * own session too; undefined where it has none.
 */
export async function signOut(settings: Settings): Promise<string | undefined> {
  forgetSignIn();
  const { end_session_endpoint } = await discover(settings);
  if (end_session_endpoint === undefined) return undefined;
  const address = new URL(end_session_endpoint);
  address.searchParams.set('client_id', requireClient(settings));
  // Cognito has a name of its own for it.
  for (const name of ['post_logout_redirect_uri', 'logout_uri']) address.searchParams.set(name, pageAddress());
  return address.href;
}

/** Auth0 and its like name the API by `audience`, RFC 8707 by `resource`, which is a URI. */
function audienceParameters({ audience, clientId }: Settings): Record<string, string> {
  if (audience === undefined || audience === clientId) return {};
  return { audience, ...(URL.canParse(audience) && { resource: audience }) };
}

function requireClient({ clientId }: Settings): string {
  if (clientId === undefined) throw new SignInFailed(`This page has no client: see ${apiAddress()}/docs.`);
  return clientId;
}

/** 256 random bits, in base64url. */
function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

async function challengeOf(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
