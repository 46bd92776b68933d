/**
 * One attempt at a delivery: the only place where the service connects to hosts that users name.
 */

import { Resolver } from 'node:dns/promises';
import type { IncomingMessage, RequestOptions } from 'node:http';
import * as https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { plainHttp } from '../values/plain-http.ts';
import { isGlobalUnicast } from './global-unicast.ts';

interface WebhookPost {
  /** As readWebhook gives it. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What is read of the receiver's answer. */
export interface WebhookAnswer {
  readonly status: number;
  /** Its `Retry-After`, as it came. */
  readonly retryAfter?: string;
}

/** Tests take the Internet's place. */
export interface PostOptions {
  /** All addresses of a name. */
  readonly resolve?: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** Whether the service may connect to an address. */
  readonly mayConnect?: (address: string) => boolean;
  readonly timeoutMilliseconds?: number;
}

/** No answer came; the message says why, to the user whose webhook it is. */
export class WebhookUnanswered extends Error {
  override readonly name = 'WebhookUnanswered';
}

/**
 * Posts the body once.
 *
 * - The addresses of the host are judged in the connection's own look-up, which returns only
 *   allowed ones. So the address that was judged is the one that is connected to, even if the name
 *   resolves differently at another time.
 * - Redirects are not followed, no proxy is used, and no connection is used twice.
 * - Of the answer, only the status and `Retry-After` are read. The connection ends before the body.
 *
 * Throws WebhookUnanswered when no answer has come within the time, look-up and connection
 * included.
 */
export async function postWebhook(
  { url, headers, body }: WebhookPost,
  { resolve = resolveName, mayConnect = isGlobalUnicast, timeoutMilliseconds = 15_000 }: PostOptions = {},
): Promise<WebhookAnswer> {
  const deadline = AbortSignal.timeout(timeoutMilliseconds);
  const lookup: LookupFunction = (name, { all }, callback) => {
    permittedAddresses(name).then(
      (addresses) => {
        const [first] = addresses;
        if (all === true) callback(null, addresses);
        else callback(null, first!.address, first!.family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };
  // The look-up is not asked about an address: only a stack that reaches its own machine alone may
  // name one (readWebhook).
  const options: RequestOptions = {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'User-Agent': 'quantum-batch-api',
      ...headers,
    },
    lookup,
    signal: deadline,
    // One address after the other: Node itself would give each of them 250 ms.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 2_500,
  } as RequestOptions;
  try {
    return await answerOf(url, options, body);
  } catch (error) {
    const seconds = timeoutMilliseconds / 1000;
    throw new WebhookUnanswered(deadline.aborted ? `No answer within ${seconds} s.` : describe(error as Error), {
      cause: error,
    });
  }

  async function permittedAddresses(name: string) {
    const addresses = await resolve(name, deadline);
    const permitted = addresses.filter(mayConnect).map((address) => ({ address, family: isIP(address) }));
    if (permitted.length === 0) throw new NoPublicAddress('The host has no public address.');
    return permitted;
  }
}

class NoPublicAddress extends Error {}

function answerOf(url: URL, options: RequestOptions, body: string): Promise<WebhookAnswer> {
  return new Promise((resolve, reject) => {
    const onAnswer = ({ statusCode = 0, headers }: IncomingMessage) => {
      const retryAfter = headers['retry-after'];
      resolve({ status: statusCode, ...(retryAfter !== undefined && { retryAfter }) });
      request.destroy();
    };
    // Agents of their own take no proxy from the environment.
    const { request: open, Agent } = url.protocol === 'https:' ? https : plainHttp();
    const request = open(url, { ...options, agent: new Agent() }, onAnswer);
    request.on('error', reject);
    // Without a listener Node drops a connection whose server wants another protocol, and reports
    // nothing.
    request.on('upgrade', (answer, socket) => {
      onAnswer(answer);
      socket.destroy();
    });
    request.end(body);
  });
}

/**
 * Asks the name servers themselves. So the machine's own host names do not count, and a slow name
 * does not block other look-ups, as it would in the thread pool of `dns.lookup`. IPv4 first: Lambda
 * has no way out by IPv6.
 */
async function resolveName(name: string, signal: AbortSignal): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_500, tries: 2 });
  signal.addEventListener('abort', () => resolver.cancel(), { once: true });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/** In words that help the receiver's owner and reveal nothing of our side. */
function describe(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof NoPublicAddress) return error.message;
  if (code === 'ECONNREFUSED') return 'The host refused the connection.';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'The host broke the connection.';
  if (/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code ?? '')) return 'The host could not be reached.';
  if (/CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(code ?? '')) return 'The certificate of the host is not valid.';
  if (/^(ERR_SSL|EPROTO)/.test(code ?? '')) return 'The host does not speak TLS as it should.';
  return 'The host did not answer in HTTP.';
}
