import { FunctionError } from '../lambda/function-error.ts';
import type { ApiDefinition, MethodDefinition } from '../template/api-definition.ts';
import type { AccountContext } from '../template/resource-types.ts';
import { isBinaryMediaType } from './binary-media-types.ts';
import { type Answer, GatewayProblem } from './gateway-answer.ts';
import { type ProxyRequest, proxyEvent } from './proxy-event.ts';
import { proxyResponse } from './proxy-response.ts';

type Integration = MethodDefinition['integration'];

/**
 * Calls the function with this ARN. Throws GatewayProblem when there is none, FunctionError when it
 * fails, and the reason of the signal: then the call has left the line, if it was in it.
 */
export type InvokeFunction = (functionArn: string, event: unknown, signal: AbortSignal) => Promise<unknown>;

/**
 * What a Lambda proxy integration answers. Throws GatewayProblem when the function fails or takes
 * too long.
 */
export async function answerByFunction(
  { functionArn, timeoutMilliseconds }: Integration & { type: 'AWS_PROXY' },
  request: ProxyRequest,
  stage: { readonly api: ApiDefinition; readonly account: AccountContext; readonly invoke: InvokeFunction },
): Promise<Answer> {
  const event = proxyEvent(stage.api, stage.account, request);
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new GatewayProblem('INTEGRATION_TIMEOUT')), timeoutMilliseconds);
  const signal = AbortSignal.any([request.request.gone, timeout.signal]);
  const ended = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => ended.reject(signal.reason));
  try {
    const result = await Promise.race([stage.invoke(functionArn, event, signal), ended.promise]);
    return proxyResponse(result, wantsBinary(request.request.headers.accept, stage.api.binaryMediaTypes));
  } catch (error) {
    if (!(error instanceof FunctionError)) throw error;
    if (error.errorType === 'RequestTooLargeException') throw new GatewayProblem('REQUEST_TOO_LARGE');
    throw new GatewayProblem('DEFAULT_5XX', 502);
  } finally {
    clearTimeout(timer);
  }
}

/** API Gateway reads the first media type of the Accept header only. */
function wantsBinary(accept: string | undefined, binaryMediaTypes: readonly string[]): boolean {
  return isBinaryMediaType(accept?.split(',')[0], binaryMediaTypes);
}
