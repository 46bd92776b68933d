import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose';
import type { HttpReply } from '../../../functions/http/reply.ts';
import { readJsonFile, writeJsonFile } from '../../commands/json-file.ts';
import { decodeComponent, readBody, splitTarget } from '../service/http-server.ts';
import { Refusal } from '../service/refusal.ts';
import type { Account } from './accounts.ts';
import { createSignInPage, type SignInPage, type SignInRequest } from './sign-in-page.ts';

/**
 * An OpenID Connect issuer for this machine: it knows the accounts' passwords and signs their
 * tokens with RS256.
 */
export interface Issuer {
  readonly url: string;
  readonly tokenEndpoint: string;
  /** A token of the account, valid for `seconds`. */
  token(account: Account, seconds?: number): Promise<string>;
  /**
   * Answers the discovery document, the keys, the token endpoint, and the pages to sign in and out;
   * `path` is relative to the issuer's.
   */
  handle(path: string, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** How long tokens are valid, unless a shorter time is asked for: a working day. */
export const maxTokenSeconds = 12 * 60 * 60;

const pageGrants = ['authorization_code', 'refresh_token'];
const grants = [...pageGrants, 'password', 'http://auth0.com/oauth/grant-type/password-realm', 'client_credentials'];
const maxBodyBytes = 65_536;

interface IssuerOptions {
  readonly url: string;
  /** The `aud` of its tokens. */
  readonly audience: string;
  readonly accounts: readonly Account[];
  /** Where its key is kept, so that tokens outlive a restart. */
  readonly keyFile?: string;
  /** The console's, for the looks of its pages; without it, they are plain. */
  readonly stylesheet?: string;
}

export async function createIssuer({ url, audience, accounts, keyFile, stylesheet }: IssuerOptions): Promise<Issuer> {
  const key = await signingKey(keyFile);
  const kid = await calculateJwkThumbprint(key);
  const publicKeys = { keys: [{ kty: key.kty, n: key.n, e: key.e, kid, use: 'sig', alg: 'RS256' }] };
  const sign = signer(url, kid, await importJWK(key, 'RS256'));
  const tokens: Tokens = {
    access: (account, seconds) => sign(account, seconds, { audience, claims: accessClaims(account) }),
    identity: (account, seconds, clientId) => sign(account, seconds, { audience: clientId, claims: namesOf(account) }),
  };
  const signInPage = createSignInPage({ url, accounts, stylesheet });
  const metadata = metadataOf(url);
  return {
    url,
    tokenEndpoint: metadata.token_endpoint,
    token: (account, seconds = maxTokenSeconds) => tokens.access(account, seconds),
    async handle(path, request, response) {
      if (path === '/.well-known/openid-configuration') return answer(response, 200, metadata);
      if (path === '/.well-known/jwks.json') return answer(response, 200, publicKeys);
      if (path === '/authorize') return showPage(signInPage.answer, request, response);
      if (path === '/logout') return showPage(signInPage.signOut, request, response);
      if (path !== '/oauth/token') return answer(response, 404, { error: 'not_found' });
      if (request.method !== 'POST') return answer(response, 405, { error: 'invalid_request' }, { Allow: 'POST' });
      return answerTokenRequest({ accounts, signInPage, tokens }, request, response);
    },
  };
}

/** Signs a token of the account. */
type Sign = (
  account: Account,
  seconds: number,
  about: { readonly audience: string; readonly claims: JWTPayload },
) => Promise<string>;

function signer(url: string, kid: string, privateKey: Parameters<SignJWT['sign']>[0]): Sign {
  return (account, seconds, { audience, claims }) => {
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
      .setIssuer(url)
      .setAudience(audience)
      .setSubject(account.userId)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(now + seconds)
      .sign(privateKey);
  };
}

/** The discovery document. */
function metadataOf(url: string) {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/oauth/token`,
    end_session_endpoint: `${url}/logout`,
    jwks_uri: `${url}/.well-known/jwks.json`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    prompt_values_supported: ['none', 'login', 'select_account'],
    grant_types_supported: grants,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_post', 'client_secret_basic'],
  };
}

function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  const common = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' };
  response.writeHead(status, { ...common, ...headers }).end(JSON.stringify(body));
}

async function showPage(
  answerOf: (asked: SignInRequest) => HttpReply,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { search } = splitTarget(request.url ?? '/');
  const query = Object.fromEntries(new URLSearchParams(search));
  try {
    const form = request.method === 'POST' ? ((await readForm(request)) ?? {}) : undefined;
    const { status, headers, body } = answerOf({ query, form, cookies: request.headers.cookie });
    response.writeHead(status, headers).end(body);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    response.writeHead(error.status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(error.message);
  }
}

interface Tokens {
  readonly access: (account: Account, seconds: number) => Promise<string>;
  readonly identity: (account: Account, seconds: number, clientId: string) => Promise<string>;
}

interface TokenEndpoint {
  readonly accounts: readonly Account[];
  readonly signInPage: SignInPage;
  readonly tokens: Tokens;
}

async function answerTokenRequest(endpoint: TokenEndpoint, request: IncomingMessage, response: ServerResponse) {
  const { authorization } = request.headers;
  const noStore = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };
  try {
    answer(response, 200, await grantTokens(endpoint, await readTokenRequest(request), authorization), noStore);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status, code, message } = error;
    const isBasic = status === 401 && basicCredentials(authorization) !== undefined;
    const challenge = isBasic ? { 'WWW-Authenticate': 'Basic' } : {};
    answer(response, status, { error: code, error_description: message }, { ...noStore, ...challenge });
  }
}

/** An access token; for a user who has signed in, an ID and a refresh token. Throws Refusal. */
async function grantTokens(
  { accounts, signInPage, tokens }: TokenEndpoint,
  parameters: Record<string, string>,
  authorization: string | undefined,
) {
  const seconds = secondsOf(parameters);
  const grant = pageGrants.includes(parameters.grant_type ?? '') ? signInPage.redeem(parameters) : undefined;
  const account = grant?.account ?? findOwner(parameters, authorization, accounts);
  return {
    access_token: await tokens.access(account, seconds),
    token_type: 'Bearer',
    expires_in: seconds,
    scope: scopeOf(account),
    ...(grant && {
      id_token: await tokens.identity(account, seconds, grant.clientId),
      refresh_token: signInPage.refreshToken(grant),
    }),
  };
}

const scopeOf = ({ scope = 'openid profile email' }: Account) => scope;

const namesOf = ({ name, username }: Account) => ({
  ...(name !== undefined && { name }),
  preferred_username: username,
});

function accessClaims(account: Account): JWTPayload {
  const { project } = account;
  return { scope: scopeOf(account), ...namesOf(account), ...(project !== undefined && { projects: [project] }) };
}

/** What is asked for (RFC 6749, section 4). Throws Refusal (section 5.2). */
async function readTokenRequest(request: IncomingMessage): Promise<Record<string, string>> {
  const parameters = await readForm(request);
  if (parameters === undefined) {
    throw new Refusal('invalid_request', 'The body is neither a form nor a JSON object.');
  }
  const { grant_type: type } = parameters;
  if (type === undefined) throw new Refusal('invalid_request', 'grant_type is missing.');
  if (!grants.includes(type)) {
    throw new Refusal('unsupported_grant_type', `The grants are ${grants.join(', ')}.`);
  }
  return parameters;
}

async function readForm(request: IncomingMessage): Promise<Record<string, string> | undefined> {
  const content = await readBody(request, maxBodyBytes);
  return content && readParameters(content.toString(), request.headers['content-type']);
}

function secondsOf({ expires_in: text = String(maxTokenSeconds) }: Record<string, string>): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > maxTokenSeconds) {
    throw new Refusal('invalid_request', `expires_in is a number of seconds from 1 to ${maxTokenSeconds}.`);
  }
  return seconds;
}

/**
 * Whose name and password these are. Realm, audience, scope and a public client's id are ignored.
 */
function findOwner(
  parameters: Record<string, string>,
  authorization: string | undefined,
  accounts: readonly Account[],
): Account {
  return parameters.grant_type === 'client_credentials'
    ? findClient(parameters, authorization, accounts)
    : findUser(parameters, accounts);
}

function findUser({ username, password }: Record<string, string>, accounts: readonly Account[]): Account {
  if (username === undefined || password === undefined) {
    throw new Refusal('invalid_request', 'username or password is missing.');
  }
  const account = findAccount(accounts, username, password);
  if (account === undefined) throw new Refusal('invalid_grant', 'Wrong username or password.');
  return account;
}

/** An account may act as a client: its name and password are the client's id and secret. */
function findClient(
  parameters: Record<string, string>,
  authorization: string | undefined,
  accounts: readonly Account[],
): Account {
  const [id, secret] = basicCredentials(authorization) ?? [parameters.client_id, parameters.client_secret];
  if (id === undefined || secret === undefined) {
    throw new Refusal('invalid_request', 'client_id or client_secret is missing.');
  }
  const account = findAccount(accounts, id, secret);
  if (account === undefined) throw new Refusal('invalid_client', 'Wrong client_id or client_secret.', 401);
  return account;
}

function findAccount(accounts: readonly Account[], username: string, password: string): Account | undefined {
  return accounts.find((account) => account.username === username && account.password === password);
}

async function signingKey(file: string | undefined): Promise<JWK> {
  const kept = file && readJsonFile<JWK>(file);
  if (kept) return kept;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = await exportJWK(privateKey);
  if (file !== undefined) writeJsonFile(file, key);
  return key;
}

function readParameters(body: string, contentType = ''): Record<string, string> | undefined {
  if (!contentType.startsWith('application/json')) return Object.fromEntries(new URLSearchParams(body));
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, String(each)]));
  } catch {
    return undefined;
  }
}

function basicCredentials(header = ''): [string, string] | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const [name = '', ...secret] = Buffer.from(encoded, 'base64').toString().split(':');
  return [decodeComponent(name), decodeComponent(secret.join(':'))];
}
