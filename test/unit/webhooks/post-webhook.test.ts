import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isGlobalUnicast } from '../../../functions/webhooks/global-unicast.ts';
import { type PostOptions, postWebhook } from '../../../functions/webhooks/post-webhook.ts';
import { receiverCertificate, receiverKey } from '../../support/receiver-certificate.ts';

const trusted = getCACertificates();
beforeAll(() => setDefaultCACertificates([...trusted, receiverCertificate]));
afterAll(() => setDefaultCACertificates(trusted));

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket) => sockets.add(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const listenTls = (listener: Listener) =>
  listen(createHttpsServer({ cert: receiverCertificate, key: receiverKey }, listener));

/** The name resolves to this machine, which counts as a host of the Internet. */
const toThisMachine = { resolve: async () => ['127.0.0.1'], mayConnect: () => true };

function post(port: number, options: PostOptions = toThisMachine, protocol = 'https', name = 'receiver.example') {
  const url = new URL(`${protocol}://${name}:${port}/hooks?a=b`);
  return postWebhook({ url, headers: { 'webhook-id': 'msg_1' }, body: '{"é":1}' }, options);
}

describe('postWebhook', () => {
  it('posts the body with its headers, by the name of the host', async () => {
    const seen: unknown[] = [];
    const port = await listenTls(async (request, response) => {
      seen.push([request.method, request.url, request.headers, await text(request)]);
      response.writeHead(204).end();
    });
    expect(await post(port)).toEqual({ status: 204 });
    expect(seen).toEqual([
      [
        'POST',
        '/hooks?a=b',
        {
          host: `receiver.example:${port}`,
          'content-type': 'application/json',
          'content-length': '8',
          'user-agent': 'quantum-batch-api',
          'webhook-id': 'msg_1',
          connection: 'close',
        },
        '{"é":1}',
      ],
    ]);
  });

  it('returns the status and Retry-After of any answer', async () => {
    const port = await listenTls((_, response) => response.writeHead(503, { 'Retry-After': '120' }).end());
    expect(await post(port)).toEqual({ status: 503, retryAfter: '120' });
  });

  it('does not follow a redirect', async () => {
    let requests = 0;
    const port = await listenTls((_, response) => {
      requests += 1;
      response.writeHead(307, { Location: '/elsewhere' }).end();
    });
    expect(await post(port)).toEqual({ status: 307 });
    expect(requests).toBe(1);
  });

  it('connects only to addresses that were permitted, in the same look-up', async () => {
    let requests = 0;
    const port = await listenTls((_, response) => {
      requests += 1;
      response.end();
    });
    const judged: string[] = [];
    const mayConnect = (address: string) => {
      judged.push(address);
      return isGlobalUnicast(address);
    };
    const resolve = async () => ['10.0.0.1', '127.0.0.1', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'];
    await expect(post(port, { resolve, mayConnect })).rejects.toThrow('The host has no public address.');
    expect(judged).toHaveLength(5);
    expect(requests).toBe(0);
  });

  it('leaves out the addresses that are not permitted, and connects to the others', async () => {
    const port = await listenTls((_, response) => response.end());
    const resolve = async () => ['127.0.0.2', '127.0.0.1'];
    const mayConnect = (address: string) => address === '127.0.0.1';
    expect(await post(port, { resolve, mayConnect })).toEqual({ status: 200 });
  });

  it('is not deceived by a name that changes its address: it looks once, and connects to what it judged', async () => {
    const connected: (string | undefined)[] = [];
    const port = await listenTls((request, response) => {
      connected.push(request.socket.localAddress);
      response.end();
    });
    const answers = ['127.0.0.1', '127.0.0.66'];
    const lookups: string[] = [];
    const resolve = async () => {
      const answer = answers[Math.min(lookups.length, 1)]!;
      lookups.push(answer);
      return [answer];
    };
    const mayConnect = (address: string) => address === '127.0.0.1';
    expect(await post(port, { resolve, mayConnect })).toEqual({ status: 200 });
    expect({ lookups, connected }).toEqual({ lookups: ['127.0.0.1'], connected: ['127.0.0.1'] });
    await expect(post(port, { resolve, mayConnect })).rejects.toThrow('The host has no public address.');
    expect({ lookups, connected }).toEqual({ lookups: ['127.0.0.1', '127.0.0.66'], connected: ['127.0.0.1'] });
  });

  it('resolves no name of this machine', async () => {
    const port = await listenTls((_, response) => response.end());
    await expect(post(port, {}, 'https', 'localhost')).rejects.toThrow('The host has no public address.');
  });

  it('uses no proxy of the environment', async () => {
    const proxied: (string | undefined)[] = [];
    const proxyServer = createHttpServer(({ url }, response) => {
      proxied.push(url);
      response.end();
    });
    const proxy = await listen(proxyServer);
    const port = await listen(createHttpServer((_, response) => response.writeHead(202).end()));
    const posting = `
      import { get } from 'node:http';
      import { postWebhook } from '${new URL('../../../functions/webhooks/post-webhook.ts', import.meta.url)}';
      const options = { resolve: async () => ['127.0.0.1'], mayConnect: () => true };
      const post = { url: new URL('http://receiver.example:${port}/'), headers: {}, body: '{}' };
      console.log((await postWebhook(post, options)).status);
      // The environment does name a proxy: a request made the usual way goes through it.
      get('http://receiver.example:${port}/by-proxy', (answer) => answer.resume());
    `;
    const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];
    const variables = Object.fromEntries(names.map((name) => [name, `http://127.0.0.1:${proxy}`]));
    const env = { ...process.env, ...variables, NODE_USE_ENV_PROXY: '1', no_proxy: '', NO_PROXY: '' };
    const child = promisify(execFile)(process.execPath, ['--input-type=module', '-e', posting], { env });
    expect((await child).stdout.trim()).toBe('202');
    expect(proxied).toEqual([`http://receiver.example:${port}/by-proxy`]);
  });

  it('does not read the body of the answer, however long it is', async () => {
    let written = 0;
    const closed = Promise.withResolvers<void>();
    const port = await listenTls((_, response) => {
      response.on('close', closed.resolve);
      const chunk = Buffer.alloc(65_536);
      const write = () => {
        while (!response.destroyed && response.write(chunk)) written += chunk.length;
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    });
    expect(await post(port)).toEqual({ status: 200 });
    await closed.promise;
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  const soon = { ...toThisMachine, timeoutMilliseconds: 300 };
  const noAnswer = 'No answer within 0.3 s.';

  it('gives up an answer that does not come', async () => {
    const port = await listenTls(() => undefined);
    await expect(post(port, soon)).rejects.toThrow(noAnswer);
  });

  it('gives up an answer that drips', async () => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined).write('HTTP/1.1 200 OK\r\n');
        const drip = setInterval(() => socket.write('X: y\r\n'), 20);
        socket.on('close', () => clearInterval(drip));
      }),
    );
    await expect(post(port, soon, 'http')).rejects.toThrow(noAnswer);
  });

  it('gives up an answer that only informs', async () => {
    const port = await listen(
      createTcpServer((socket) => {
        const inform = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
        socket.on('error', () => undefined).on('close', () => clearInterval(inform));
      }),
    );
    await expect(post(port, soon, 'http')).rejects.toThrow(noAnswer);
  });

  it('gives up a handshake that does not come to its end', async () => {
    const port = await listen(createTcpServer((socket) => socket.on('error', () => undefined)));
    await expect(post(port, soon)).rejects.toThrow(noAnswer);
  });

  it('gives up a name that does not resolve in time', async () => {
    await expect(post(1, { ...soon, resolve: () => new Promise(() => undefined) })).rejects.toThrow(noAnswer);
  });

  it('refuses headers without end', async () => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined).write(`HTTP/1.1 200 OK\r\nX: ${'y'.repeat(1_000_000)}`);
      }),
    );
    await expect(post(port, toThisMachine, 'http')).rejects.toThrow('The host did not answer in HTTP.');
  });

  it('takes another protocol for an answer like others, and ends the connection', async () => {
    const closed = Promise.withResolvers<void>();
    const port = await listen(
      createTcpServer((socket) => {
        socket
          .on('error', () => undefined)
          .on('close', () => closed.resolve())
          .resume();
        socket.write('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
      }),
    );
    expect(await post(port, toThisMachine, 'http')).toEqual({ status: 101 });
    await closed.promise;
  });

  it('says that the certificate is not valid', async () => {
    const port = await listenTls((_, response) => response.end());
    await expect(post(port, toThisMachine, 'https', 'other.example')).rejects.toThrow('certificate');
    setDefaultCACertificates(trusted);
    await expect(post(port)).rejects.toThrow('certificate');
    setDefaultCACertificates([...trusted, receiverCertificate]);
  });

  it('says that the host refused or broke the connection, or speaks something else', async () => {
    const closed = createTcpServer();
    const port = await listen(closed);
    closed.close();
    await expect(post(port)).rejects.toThrow('The host refused the connection.');
    const breaking = await listen(createTcpServer((socket) => socket.destroy()));
    await expect(post(breaking, toThisMachine, 'http')).rejects.toThrow('The host broke the connection.');
    const plain = await listen(createHttpServer((_, response) => response.end()));
    await expect(post(plain)).rejects.toThrow('The host does not speak TLS as it should.');
  });
});
