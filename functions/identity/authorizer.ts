/**
 * Finds the caller. API Gateway runs this before every function that is not public, and keeps the
 * answer for a while.
 */

import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent, Context } from 'aws-lambda';
import { requiredEnv } from '../runtime/env.ts';
import { addToRequestLog, describeError, withRequestLog, writeRequestLog } from '../runtime/request-log.ts';
import { TokenRefused } from './compact-jws.ts';
import { httpKeySet, keySource } from './key-source.ts';
import { tokenVerifier } from './token-verifier.ts';

const audiences = requiredEnv('AUDIENCE')
  .split(',')
  .map((name) => name.trim())
  .filter((name) => name !== '');
if (audiences.length === 0) throw new Error('The environment variable AUDIENCE names no audience.');

const keys = keySource(httpKeySet(requiredEnv('JWKS_URI')));
const verify = tokenVerifier({ issuer: requiredEnv('ISSUER'), audiences, keys });

/** Of the roles that do not exist, the log names as many. */
const maxRolesNamed = 10;

/**
 * Answers with the caller (`principalId`), the token's expiry (`exp`) and its `scope`. The answer
 * is for the whole stage, because the gateway uses it for every route. Throws `Unauthorized` for
 * every bad token, which the gateway answers with 401; any other error (500) when the issuer's keys
 * are not known.
 */
export function handler(event: APIGatewayTokenAuthorizerEvent, context: Context): Promise<APIGatewayAuthorizerResult> {
  return withRequestLog({ request_id: context.awsRequestId }, async () => {
    const start = performance.now();
    try {
      const { userId, exp, scope, unknownRoles, ...claims } = await verify(bearerToken(event.authorizationToken));
      addToRequestLog({ user_id: userId, outcome: 'accepted' });
      if (unknownRoles !== undefined)
        addToRequestLog({ unknown_roles: unknownRoles.slice(0, maxRolesNamed).join().slice(0, 500) });
      return { principalId: userId, policyDocument: wholeStage(event.methodArn), context: { exp, scope, ...claims } };
    } catch (error) {
      if (!(error instanceof TokenRefused)) {
        addToRequestLog({ outcome: 'failed', error: describeError(error) });
        throw error;
      }
      addToRequestLog({ outcome: 'refused', reason: error.message });
      throw new Error('Unauthorized');
    } finally {
      addToRequestLog({ Latency: Math.round((performance.now() - start) * 10) / 10, JwksAge: keys.ageInSeconds() });
      writeRequestLog('INFO');
    }
  });
}

function bearerToken(authorization: string | undefined): string {
  const [, token] = /^Bearer +([^ ]+) *$/i.exec(authorization ?? '') ?? [];
  if (token === undefined) throw new TokenRefused('no bearer token');
  return token;
}

/** `arn:aws:execute-api:region:account:api/stage/METHOD/path` without the request. */
function wholeStage(methodArn: string): APIGatewayAuthorizerResult['policyDocument'] {
  const [api, stage] = methodArn.split('/');
  const Resource = `${api}/${stage}/*`;
  return { Version: '2012-10-17', Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource }] };
}
