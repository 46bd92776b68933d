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
}

interface AccountWithToken {
  readonly username: string;
  readonly password: string;
  readonly userId: string;
  readonly token: string;
}

export function describeStack(
  stack: LocalStack,
  users: readonly AccountWithToken[],
  device: AccountWithToken,
): StackDescription {
  const describeAccount = ({ username, password, userId, token }: AccountWithToken) => ({
    username,
    password,
    userId,
    token,
  });
  return {
    baseUrl: stack.baseUrl,
    openapiUrl: `${stack.baseUrl}/openapi.json`,
    dynamodbEndpoint: stack.dynamodbEndpoint,
    objectStoreEndpoint: stack.objectStoreEndpoint,
    queueEndpoint: stack.queueEndpoint,
    issuer: stack.issuer.url,
    tokenEndpoint: stack.issuer.tokenEndpoint,
    outputs: stack.deployment.outputs,
    users: users.map(describeAccount),
    device: describeAccount(device),
  };
}

/**
 * What people are shown: the tokens, and curl lines that work as printed. `files` are the
 * description and the log.
 */
export async function greeting(
  { baseUrl, openapiUrl, tokenEndpoint, users, device }: StackDescription,
  files: { readonly description: string; readonly log: string },
): Promise<string> {
  const [user] = users;
  const tokens = [...users, device].map(
    ({ username, password, token }) =>
      `${username} (password ${password})${username === device.username ? ', for machines' : ''}\n${token}`,
  );
  const jobId = await findDoneJob(baseUrl, user!.token);
  const authorization = '-H "Authorization: Bearer $TOKEN"';
  const lines = [
    `TOKEN=${user!.token}`,
    `curl ${authorization} '${baseUrl}/api/v1/batches?status=RUNNING&limit=2'`,
    `curl ${authorization} '${baseUrl}/api/v2/jobs?status=DONE&limit=2'`,
    ...(jobId === undefined ? [] : [`curl ${authorization} '${baseUrl}/api/v1/jobs/${jobId}/results_link'`]),
    `curl ${authorization} -H 'Content-Type: application/json' -d '{"data":{"quiz-1":{"answer":42}}}' ${baseUrl}/api/v1/quizzes`,
    `curl -d grant_type=password -d username=${user!.username} -d password=${user!.password} ${tokenEndpoint}`,
    `curl -d grant_type=client_credentials -d client_id=${device.username} -d client_secret=${device.password} ${tokenEndpoint}`,
  ];
  return `${baseUrl} (open it in a browser; description: ${openapiUrl})

${tokens.join('\n\n')}

${lines.join('\n')}

Ctrl-C ends it. Addresses and tokens are in ${files.description}, what the functions write in ${files.log}.
`;
}

/** A job that has results, if there is one. */
async function findDoneJob(baseUrl: string, token: string): Promise<string | undefined> {
  const response = await fetch(`${baseUrl}/api/v2/jobs?status=DONE&limit=1`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const { data } = (await response.json()) as { data: readonly { readonly id: string }[] };
  return data[0]?.id;
}
