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
 * what the next ones are like, `silence` what it makes of `prompt=none`: it answers, it ignores it
 * as older issuers do, or it fails.
 */
export async function startForeignIssuer(folder: string) {
  const module = pathToFileURL(join(folder, 'node_modules/oidc-provider/lib/index.js')).href;
  const { default: Provider } = await import(module);
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tokens = { seconds: 600, areRenewable: true };
  const silence: { is: 'answered' | 'ignored' | 'failing' } = { is: 'answered' };
  const jwk = await exportJWK((await generateKeyPair('RS256', { extractable: true })).privateKey);

  return {
    url,
    tokens,
    silence,

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
      const answer = provider.callback();
      server.on('request', (request, response) => {
        const address = new URL(request.url ?? '/', url);
        if (address.searchParams.get('prompt') !== 'none' || silence.is === 'answered')
          return answer(request, response);
        if (silence.is === 'failing') {
          const back = new URL(address.searchParams.get('redirect_uri') ?? '');
          const state = address.searchParams.get('state') ?? '';
          back.search = String(
            new URLSearchParams({ error: 'server_error', error_description: 'Out of order.', state }),
          );
          return response.writeHead(303, { Location: back.href }).end();
        }
        address.searchParams.delete('prompt');
        request.url = `${address.pathname}${address.search}`;
        return answer(request, response);
      });
    },

    async stop() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
