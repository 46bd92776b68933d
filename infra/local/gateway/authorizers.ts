import { isAllowed, type PolicyStatement } from '../iam/policy.ts';
import { FunctionError } from '../lambda/function-error.ts';
import type { ApiDefinition } from '../template/api-definition.ts';
import type { AccountContext } from '../template/resource-types.ts';
import { GatewayProblem } from './gateway-answer.ts';
import type { AuthorizerContext, GatewayRequest } from './gateway-request.ts';
import type { InvokeFunction } from './integrations.ts';

interface Verdict {
  readonly statements: readonly PolicyStatement[];
  readonly context: AuthorizerContext;
}

interface AuthorizerResult {
  readonly principalId?: unknown;
  readonly policyDocument?: { readonly Statement?: PolicyStatement | readonly PolicyStatement[] };
  readonly context?: Readonly<Record<string, unknown>> | null;
}

/**
 * The API's token authorizers. As in API Gateway, a verdict about a token is kept for the
 * authorizer's time to live and holds for every method of the stage. The returned function throws
 * GatewayProblem for a caller who may not pass.
 */
export function createAuthorizers(
  api: ApiDefinition,
  account: AccountContext,
  invoke: InvokeFunction,
): (authorizerId: string, request: GatewayRequest) => Promise<AuthorizerContext> {
  const verdicts = new Map<string, { readonly verdict: Verdict; readonly until: number }>();

  return async (authorizerId, request) => {
    const authorizer = api.authorizers.find(({ id }) => id === authorizerId)!;
    const header = request.headers[authorizer.header];
    const token = Array.isArray(header) ? header.join(',') : (header ?? '');
    if (token === '' || !authorizer.pattern.test(token)) throw new GatewayProblem('UNAUTHORIZED');
    const path = request.path.replace(/^\//, '').replace(/(?<=.)\/$/, '');
    const methodArn = `arn:aws:execute-api:${account.region}:${account.accountId}:${api.id}/${api.stage}/${request.method}/${path}`;
    const key = `${authorizerId} ${token}`;
    const kept = verdicts.get(key);
    let verdict = kept !== undefined && kept.until > request.time ? kept.verdict : undefined;
    if (verdict === undefined) {
      verdict = await ask(
        authorizer.functionArn,
        { type: 'TOKEN', authorizationToken: token, methodArn },
        request.gone,
      );
      forget(request.time);
      if (authorizer.cacheSeconds > 0) {
        verdicts.set(key, { verdict, until: request.time + authorizer.cacheSeconds * 1000 });
      }
    }
    if (!isAllowed(verdict.statements, { action: 'execute-api:Invoke', resource: methodArn })) {
      throw new GatewayProblem('ACCESS_DENIED');
    }
    return verdict.context;
  };

  async function ask(functionArn: string, event: unknown, gone: AbortSignal): Promise<Verdict> {
    const started = Date.now();
    let result: AuthorizerResult | null;
    try {
      result = (await invoke(functionArn, event, gone)) as AuthorizerResult | null;
    } catch (error) {
      if (!(error instanceof FunctionError)) throw error;
      throw new GatewayProblem(error.message === 'Unauthorized' ? 'UNAUTHORIZED' : 'AUTHORIZER_FAILURE');
    }
    const { principalId, policyDocument, context } = result ?? {};
    const statements = policyDocument?.Statement;
    const values = Object.entries(context ?? {});
    const flat = values.every(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
    if (typeof principalId !== 'string' || typeof statements !== 'object' || !flat) {
      throw new GatewayProblem('AUTHORIZER_CONFIGURATION_ERROR');
    }
    return {
      statements: [statements].flat() as PolicyStatement[],
      context: {
        ...Object.fromEntries(values.map(([name, value]) => [name, String(value)])),
        principalId,
        integrationLatency: Date.now() - started,
      },
    };
  }

  function forget(now: number) {
    if (verdicts.size < 1_000) return;
    for (const [key, { until }] of verdicts) if (until <= now) verdicts.delete(key);
  }
}
