import { isIP } from 'node:net';

/**
 * The hosts that a stack calls: `public`, hosts of the Internet by HTTPS; `loopback`, 127.0.0.1
 * alone, by HTTP too and on any port, for the local stack; `off`, none.
 */
export type WebhookReach = 'public' | 'loopback' | 'off';

/** Where a webhook is delivered to, or why it never is. */
type WebhookTarget = { readonly url: URL } | { readonly refusal: string };

/**
 * Reads the `webhook` of a batch. Clients may send any text there. A `public` stack delivers to
 * HTTPS on port 443 of a full domain name, without user information. Which addresses the name may
 * have is decided when it is connected to (post-webhook.ts).
 */
export function readWebhook(webhook: string, reach: WebhookReach): WebhookTarget {
  if (reach === 'off') return { refusal: 'This stack delivers no webhooks.' };
  const url = URL.parse(webhook);
  if (url === null) return { refusal: 'The webhook is not a URL.' };
  const refusal = (reach === 'public' ? refusePublic : refuseLoopback)(url);
  return refusal === undefined ? { url } : { refusal };
}

/** A URL writes addresses in canonical form: `https://0x7f.1/` has the host 127.0.0.1. */
function refusePublic({ protocol, username, password, hostname, port }: URL): string | undefined {
  if (protocol !== 'https:') return 'Webhooks are delivered by https only.';
  if (username !== '' || password !== '') return 'The webhook must not hold a user or a password.';
  if (isIP(hostname) !== 0 || hostname.startsWith('[')) return 'The webhook must name a host, not an address.';
  if (!/[^.]\.[^.]/.test(hostname)) return 'The webhook must have the full domain name of its host.';
  if (port !== '') return 'Webhooks are delivered to port 443 only.';
  return undefined;
}

function refuseLoopback({ protocol, username, password, hostname }: URL): string | undefined {
  const isLocal = /^https?:$/.test(protocol) && hostname === '127.0.0.1' && username === '' && password === '';
  return isLocal ? undefined : 'This stack delivers webhooks to http://127.0.0.1 only.';
}
