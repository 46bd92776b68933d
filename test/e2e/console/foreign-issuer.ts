import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exportJWK, generateKeyPair } from 'jose';

/** The console's client there. */
export const foreignClient = 'lab-console';

/** A URI, as resource indicators (RFC 8707) want it. */
export const foreignAudience = 'https://quantum.invalid/api';

/**
 * An issuer of others: `oidc-provider`, as it is installed in `folder`, on a free port. It accepts
 * any name with any password. A public client with PKCE gets JWTs for the audience; `tokens` says
 * what the next ones are like.
 */
export async function startForeignIssuer(folder: string) {
  const module = pathToFileURL(join(folder, 'node_modules/oidc-provider/lib/index.js')).href;
  const { default: Provider } = await import(module);
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tokens = { seconds: 600, areRenewable: true };
  const jwk = await exportJWK((await generateKeyPair('RS256', { extractable: true })).privateKey);

  return {
    url,
    tokens,

    /** Lets the console at this address sign in. */
    admit(consoleUrl: string) {
      const provider = new Provider(url, {
        clients: [
          {
            client_id: foreignClient,
            token_endpoint_auth_method: 'none',
            grant_types: ['authorization_code', 'refresh_token'],
            redirect_uris: [consoleUrl],
            post_logout_redirect_uris: [consoleUrl],
          },
        ],
        jwks: { keys: [{ ...jwk, kid: 'own', alg: 'RS256', use: 'sig' }] },
        cookies: { keys: ['of this run'] },
        clientBasedCORS: () => true,
        issueRefreshToken: () => tokens.areRenewable,
        findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, name: `Dr. ${id}` }) }),
        claims: { profile: ['name'] },
        conformIdTokenClaims: false,
        features: {
          devInteractions: { enabled: true },
          resourceIndicators: {
            enabled: true,
            useGrantedResource: () => true,
            getResourceServerInfo: () => ({
              scope: '',
              audience: foreignAudience,
              accessTokenFormat: 'jwt',
              accessTokenTTL: tokens.seconds,
              jwt: { sign: { alg: 'RS256' } },
            }),
          },
        },
      });
      server.on('request', provider.callback());
    },

    async stop() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
