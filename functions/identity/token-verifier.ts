import { type ProjectRole, projectRoleNames } from '../project-roles.ts';
import { parseUuid } from '../values/uuid.ts';
import { type CompactJws, readCompactJws, readJsonObject, TokenRefused } from './compact-jws.ts';
import { isDeviceScope } from './device-scope.ts';
import type { KeySource } from './key-source.ts';
import { operatorScope, operatorsGroup } from './operator-scope.ts';
import { isUserId } from './user-id.ts';
import type { VerificationKey } from './verification-key.ts';

interface TokenRules {
  readonly issuer: string;
  /** Any of them: as `aud`, or as `client_id` of a Cognito access token. */
  readonly audiences: readonly string[];
  readonly keys: KeySource;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export interface Identity {
  readonly userId: string;
  /** When the token expires, in epoch seconds. */
  readonly exp: number;
  /**
   * What the token allows, as a list with spaces between (RFC 8693); empty when the token does not
   * say. The group of operators adds the scope `operator`.
   */
  readonly scope: string;
  /** The highest priority of its batches, where the token has the claim. */
  readonly queue_priority?: string;
  /** JSON: the projects that the token names, each with the role there, if it gives one. */
  readonly projects?: string;
  /** What people call the user, where the token says it. */
  readonly user_name?: string;
  /** Roles in projects that the token gives, and that do not exist: they count as none. */
  readonly unknownRoles?: readonly string[];
}

const priorities = new Set<unknown>(['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'FREE']);

/** The clock of an issuer may be ahead of Lambda's. */
const maxAheadMilliseconds = 5_000;

/**
 * Verifies a bearer token: signature, issuer, audience, `exp` (required, with no leeway), `nbf`
 * (with 5 s), `sub` (required). Throws TokenRefused for every bad token, KeysUnavailable when none
 * can be judged.
 */
export function tokenVerifier({ issuer, audiences, keys, now = Date.now }: TokenRules) {
  return async (token: string): Promise<Identity> => {
    const jws = readCompactJws(token);
    verifyByAny(await keys.find(jws.header.kid), jws);
    const claims = readJsonObject(jws.payload);
    const { iss, sub, exp, nbf } = claims;
    if (iss !== issuer) throw new TokenRefused('from another issuer');
    if (!isFor(audiences, claims)) throw new TokenRefused('for another audience');
    if (!isTime(exp)) throw new TokenRefused('without expiry');
    if (exp * 1000 <= now()) throw new TokenRefused('expired');
    if (nbf !== undefined && !isTime(nbf)) throw new TokenRefused('an unreadable nbf');
    if (isTime(nbf) && nbf * 1000 > now() + maxAheadMilliseconds) throw new TokenRefused('not valid yet');
    if (!isUserId(sub)) throw new TokenRefused('without subject');
    const scope = scopeOf(claims);
    return { userId: sub, exp, scope, ...priorityOf(claims), ...projectsOf(claims, scope), ...nameOf(claims) };
  };
}

/** Several keys may have one `kid`. Throws TokenRefused unless one of them signed the token. */
function verifyByAny(keys: readonly VerificationKey[], jws: CompactJws) {
  const fitting = keys.filter(({ algorithms }) => algorithms.includes(jws.header.alg));
  let refusal = new TokenRefused('not an algorithm of its key');
  for (const key of fitting) {
    try {
      return key.verify(jws);
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

/**
 * Cognito's access tokens name the client in `client_id` and have no `aud`. Its ID tokens are
 * refused: they are for the client, not for an API.
 */
function isFor(audiences: readonly string[], { aud, client_id: clientId, token_use: use }: Record<string, unknown>) {
  if (use !== undefined && use !== 'access') return false;
  const named = aud ?? (use === 'access' ? clientId : undefined);
  return (Array.isArray(named) ? named : [named]).some((name) => audiences.includes(name));
}

/**
 * Okta and Microsoft call the claim `scp`; there and elsewhere it may be an array: only its texts
 * are names, and none with a space, which would pass for two. Cognito writes
 * `resource-server/name`, and no name of it may hold a slash: its `device/FRESNEL` is our
 * `device:FRESNEL`.
 */
function scopeOf(claims: Record<string, unknown>): string {
  const { scope, scp, token_use: use } = claims;
  const list = scope ?? scp;
  const text = Array.isArray(list) ? list.filter(isScopeName).join(' ') : typeof list === 'string' ? list : '';
  const named = use === undefined ? text : text.replace(/(?<![^ ])device\//g, 'device:');
  return groupsOf(claims).includes(operatorsGroup) ? `${named} ${operatorScope}`.trimStart() : named;
}

function isScopeName(name: unknown): boolean {
  return typeof name === 'string' && /^\S+$/.test(name);
}

/** A text is one group: names of groups may have spaces. */
function groupsOf({ groups, 'cognito:groups': ofCognito }: Record<string, unknown>): unknown[] {
  return [groups, ofCognito].flat();
}

function priorityOf({ queue_priority }: Record<string, unknown>): Pick<Identity, 'queue_priority'> {
  if (queue_priority === undefined) return {};
  if (!priorities.has(queue_priority)) throw new TokenRefused('an unreadable queue_priority');
  return { queue_priority: String(queue_priority) };
}

interface NamedProject {
  readonly id: string;
  readonly name: string;
  readonly role?: unknown;
}

/**
 * The projects of the claim `projects`; without it, of groups `project:<uuid>:<role>`. Tokens of
 * devices have no role.
 */
function projectsOf(claims: Record<string, unknown>, scope: string): Pick<Identity, 'projects' | 'unknownRoles'> {
  const named = claims.projects === undefined ? projectsOfGroups(claims) : projectsOfClaim(claims.projects);
  if (named === undefined) return {};
  const isDevice = scope.split(' ').some(isDeviceScope);
  const unknown = named.flatMap(({ role }) => (role == null || isProjectRole(role) ? [] : [role]));
  const projects = Array.from(
    Map.groupBy(named, ({ id }) => id),
    ([id, [first, ...others]]) => {
      const role = isDevice ? undefined : strongestRole([first, ...others].map((each) => each?.role));
      return { id, name: first?.name ?? id, ...(role !== undefined && { role }) };
    },
  );
  return {
    projects: JSON.stringify(projects),
    ...(unknown.length > 0 && { unknownRoles: unknown.map((role) => JSON.stringify(role)) }),
  };
}

/** Projects restrict what a token may do: a claim that cannot be read must not pass for none. */
function projectsOfClaim(projects: unknown): NamedProject[] {
  if (!Array.isArray(projects)) throw new TokenRefused('unreadable projects');
  return projects.map((value) => {
    const { id, name, role } = (value ?? {}) as Record<string, unknown>;
    const uuid = typeof id === 'string' ? parseUuid(id) : undefined;
    if (uuid === undefined || typeof name !== 'string') throw new TokenRefused('an unreadable project');
    return { id: uuid, name, role };
  });
}

/** Undefined where no group names a project: other groups may begin alike. */
function projectsOfGroups(claims: Record<string, unknown>): NamedProject[] | undefined {
  const named = groupsOf(claims).flatMap((group) => {
    const [, spelling = '', role] = (typeof group === 'string' && /^project:(.+):([^:]*)$/.exec(group)) || [];
    const id = parseUuid(spelling);
    return id === undefined ? [] : [{ id, name: id, role }];
  });
  return named.length === 0 ? undefined : named;
}

function isProjectRole(role: unknown): role is ProjectRole {
  return projectRoleNames.some((name) => name === role);
}

function strongestRole(roles: readonly unknown[]): ProjectRole | undefined {
  return projectRoleNames.findLast((name) => roles.includes(name));
}

const maxNameCharacters = 128;

/** They hide, or turn what follows. The two joiners stay: scripts and emoji need them. */
const hiddenCharacters = /(?![\u200C\u200D])[\p{Cc}\p{Cf}]/gu;

/** Letters may be invisible, too, as the fillers of Hangul are. */
const visibleCharacter = /[^\s\u2800\p{Default_Ignorable_Code_Point}]/u;

/** The first of these claims that names anyone, without hidden characters, on one line. */
function nameOf(claims: Record<string, unknown>): Pick<Identity, 'user_name'> {
  for (const claim of ['name', 'preferred_username', 'email']) {
    const value = claims[claim];
    if (typeof value !== 'string') continue;
    const line = value.toWellFormed().replace(/\s+/g, ' ').replace(hiddenCharacters, '').trim();
    const user_name = [...line].slice(0, maxNameCharacters).join('').trim();
    if (visibleCharacter.test(user_name)) return { user_name };
  }
  return {};
}

function isTime(value: unknown): value is number {
  return Number.isFinite(value);
}
