/**
 * Calls of Secrets Manager, signed by the SDK's own signer. Its client is not a dependency: beside
 * DynamoDB's it takes 15 kB more of three bundles, and each of their starts 4 ms more CPU time.
 */

import { fromEnv } from '@aws-sdk/credential-provider-env';
import { SignatureV4 } from '@smithy/signature-v4';
import { DependencyFailed } from '../../errors.ts';
import { requiredEnv } from '../../runtime/env.ts';
import { Sha256 } from './sha256.ts';

/** Secrets Manager refused a call; `code` is its error's. */
export class SecretsManagerRefusal extends Error {
  override readonly name = 'SecretsManagerRefusal';
  readonly code: string;

  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

type SecretsOperation = 'DescribeSecret' | 'GetSecretValue' | 'PutSecretValue' | 'UpdateSecretVersionStage';

export type CallSecretsManager = (
  operation: SecretsOperation,
  input: Readonly<Record<string, unknown>>,
) => Promise<Readonly<Record<string, unknown>>>;

const attempts = 3;
const attemptMilliseconds = 1_500;

/**
 * Calls of Secrets Manager, each tried up to three times. They throw SecretsManagerRefusal for what
 * it refuses, and DependencyFailed.
 */
export function secretsManager(): CallSecretsManager {
  const region = requiredEnv('AWS_REGION');
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const { AWS_ENDPOINT_URL_SECRETS_MANAGER: ownEndpoint, AWS_ENDPOINT_URL: endpoint } = process.env;
  const url = new URL(ownEndpoint ?? endpoint ?? `https://secretsmanager.${region}.${domain}`);
  const signer = new SignatureV4({ credentials: fromEnv(), region, service: 'secretsmanager', sha256: Sha256 });

  return async (operation, input) => {
    for (let attempt = 1; ; attempt++) {
      const answer = await call(operation, JSON.stringify(input)).catch((error: Error) => error);
      if (!(answer instanceof Error)) return answer;
      if (answer instanceof SecretsManagerRefusal) throw answer;
      if (attempt === attempts) throw new DependencyFailed('Secrets Manager failed.', { cause: answer });
    }
  };

  async function call(operation: SecretsOperation, body: string) {
    const { headers } = await signer.sign({
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      path: '/',
      query: {},
      headers: {
        host: url.host,
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `secretsmanager.${operation}`,
      },
      body,
    });
    const signal = AbortSignal.timeout(attemptMilliseconds);
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' });
    const answer = (await response.json()) as Record<string, unknown>;
    if (response.ok) return answer;
    const code = String(answer.__type).split('#').at(-1)!;
    const message = String(answer.message ?? answer.Message);
    if (response.status >= 500 || code === 'ThrottlingException') throw new Error(`${code}: ${message}`);
    throw new SecretsManagerRefusal(code, message);
  }
}
