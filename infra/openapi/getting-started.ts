import { sampleAddress } from './sample-request.ts';

/** What the document says first, in Markdown: what the API is, and how to get a token. */
export const gettingStarted = `Create batches of jobs for quantum devices and emulators, follow and end them, and download their results.

## Get a token

Every operation with a lock needs a bearer token: a JWT from this deployment’s OpenID Connect issuer; its \`sub\` is the user. On
this page, paste it into **Authorize**; **Execute** then sends requests with it. The snippets read it from the environment variable
\`TOKEN\`.

On your own machine, **Use the demo account** signs in, and \`npm start\` prints a line that sets \`TOKEN\`. For a new one:

\`\`\`sh
curl -d grant_type=password -d username=demo -d password=demo \\
  ${sampleAddress}/_local/issuer/oauth/token
\`\`\`

On AWS with the stack’s own user pool, \`UserPoolClientId\` is an output of the stack:

\`\`\`sh
export TOKEN=$(aws cognito-idp initiate-auth --client-id "$CLIENT" --auth-flow USER_PASSWORD_AUTH \\
  --auth-parameters USERNAME=ada,PASSWORD="$PASSWORD" \\
  --query AuthenticationResult.AccessToken --output text)
\`\`\`

For another issuer, ask the operator how to get a token.

## Answers

Every answer has the members \`status\`, \`message\` and \`code\`. Success has \`data\`. A list also has \`pagination\`; its
\`end\` is the next \`offset\`. An error has \`data.reason\`, a word for programs such as \`batch_closed\`, and
\`data.description\`, a sentence for people.
The schema \`ErrorReason\` explains every reason; each operation lists its own. 422 lists every fault of the input at once, with its place,
in \`detail\`. After 429, \`Retry-After\` says how many seconds to wait. Each answer has an \`X-Request-Id\`: quote it when you ask about a request.`;
