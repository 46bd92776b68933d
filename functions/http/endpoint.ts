import type { APIGatewayProxyEvent } from 'aws-lambda';
import { TokenExpired } from '../errors.ts';
import { addToRequestLog } from '../request-log.ts';
import { deprecation } from './deprecation.ts';
import { type Handler, publicEndpoint } from './public-endpoint.ts';
import { type Input, type InputSchemas, readInput } from './read-input.ts';
import type { Reply } from './reply.ts';

/** A function for callers with a token. The endpoint is given who calls and the input, read by its schemas. */
export function endpoint<Schemas extends InputSchemas>(
  schemas: Schemas,
  answer: (request: { userId: string } & Input<Schemas>) => Promise<Reply>,
): Handler {
  const deprecationHeaders = deprecation(schemas.query);
  return publicEndpoint(async (event) => {
    const userId = caller(event);
    addToRequestLog({ user_id: userId });
    const reply = await answer({ userId, ...readInput(schemas, event) });
    return { ...reply, headers: { ...deprecationHeaders(event), ...reply.headers } };
  });
}

/** The caller, whom the authorizer named. Its answer may come from the gateway's cache, so the token's end is checked again. */
function caller({ requestContext }: APIGatewayProxyEvent): string {
  const { principalId, exp } = requestContext.authorizer ?? {};
  if (typeof principalId !== 'string' || principalId === '') throw new Error('The authorizer did not say who calls.');
  if (!(Number(exp) * 1000 > Date.now())) throw new TokenExpired('A valid bearer token is required.');
  return principalId;
}
