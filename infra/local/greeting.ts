import type { LocalStack } from './local-stack.ts';

/** What `.local/stack.json` holds, for other programs. */
export interface StackDescription {
  readonly baseUrl: string;
  readonly openapiUrl: string;
  readonly dynamodbEndpoint: string;
  readonly objectStoreEndpoint: string;
  readonly queueEndpoint: string;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  /** The outputs of the template. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly users: readonly AccountWithToken[];
  /**
   * For the machines that run the jobs: also a client of the token endpoint's `client_credentials`.
   */
  readonly device: AccountWithToken;
  readonly operator: AccountWithToken;
}

interface AccountWithToken {
  readonly username: string;
  readonly password: string;
  readonly userId: string;
  readonly token: string;
}

export function describeStack(
  stack: LocalStack,
  accounts: Pick<StackDescription, 'users' | 'device' | 'operator'>,
): StackDescription {
  return {
    baseUrl: stack.baseUrl,
    openapiUrl: `${stack.baseUrl}/openapi.json`,
    dynamodbEndpoint: stack.dynamodbEndpoint,
    objectStoreEndpoint: stack.objectStoreEndpoint,
    queueEndpoint: stack.queueEndpoint,
    issuer: stack.issuer.url,
    tokenEndpoint: stack.issuer.tokenEndpoint,
    outputs: stack.deployment.outputs,
    ...accounts,
  };
}

/** What people are shown: where everything is, and lines for a shell that work as printed. */
export function greeting(
  { baseUrl, users, device, operator }: StackDescription,
  files: { readonly description: string; readonly log: string },
): string {
  const names = [...users, device, operator].map(({ username }) => username).join(', ');
  return `  API       ${baseUrl}
  Console   ${baseUrl}/console
  Page      ${baseUrl}/docs
  Accounts  ${names}: passwords are the names; tokens and addresses in ${files.description}
  Log       ${files.log}

export API=${baseUrl} TOKEN=$(node -p 'JSON.parse(fs.readFileSync("${files.description}")).users[0].token')
curl -H "Authorization: Bearer $TOKEN" "$API/api/v1/batches?status=RUNNING&limit=2"

Ctrl-C ends it.
`;
}
