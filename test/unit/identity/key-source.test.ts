import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { httpKeySet, KeysUnavailable, keySource, readKeySet } from '../../../functions/identity/key-source.ts';
import { issuerKey } from '../../support/token-issuer.ts';

const first = await issuerKey('ES256', 'first');
const second = await issuerKey('ES256', 'second');

const seconds = (count: number) => count * 1000;
const minutes = (count: number) => seconds(count * 60);

/**
 * An issuer that has some keys, or is down, and counts how often it is asked. The clock moves only
 * when `pass` moves it.
 */
function setUp() {
  let time = 1_800_000_000_000;
  const issuer = { keys: [first], isDown: false, asked: 0 };
  const source = keySource(
    async () => {
      issuer.asked++;
      await new Promise((resolve) => setImmediate(resolve));
      if (issuer.isDown) throw new Error('The issuer is down.');
      return JSON.stringify({ keys: issuer.keys.map(({ jwk }) => jwk) });
    },
    () => time,
  );
  const find = (kid: string | undefined) =>
    source.find(kid).then(
      (keys) => keys.map((key) => key.kid).join(),
      (error: Error) => error.name,
    );
  const pass = (duration: number) => {
    time += duration;
  };
  return { issuer, source, find, pass };
}

let { issuer, source, find, pass } = setUp();
beforeEach(() => {
  ({ issuer, source, find, pass } = setUp());
});

describe('keySource', () => {
  it('asks the issuer once for any number of tokens at once', async () => {
    expect(await Promise.all(Array.from({ length: 50 }, () => find('first')))).toEqual(Array(50).fill('first'));
    expect(issuer.asked).toBe(1);
  });

  it('asks once while the issuer is slow to answer', async () => {
    const early = find('first');
    pass(seconds(11));
    expect(await Promise.all([early, find('first')])).toEqual(['first', 'first']);
    expect(issuer.asked).toBe(1);
  });

  it('knows every key of the set', async () => {
    issuer.keys = [first, second];
    await find('first');
    pass(minutes(1));
    expect(await Promise.all([find('second'), find('first')])).toEqual(['second', 'first']);
    expect(issuer.asked).toBe(1);
  });

  it('keeps the keys for 10 minutes', async () => {
    await find('first');
    pass(minutes(10) - 1);
    expect(await find('first')).toBe('first');
    expect(issuer.asked).toBe(1);
    pass(1);
    expect(await find('first')).toBe('first');
    expect(issuer.asked).toBe(2);
  });

  it('refuses a key that was withdrawn, after 10 minutes at most', async () => {
    await find('first');
    issuer.keys = [second];
    pass(minutes(10));
    expect(await find('first')).toBe('TokenRefused');
    expect(await find('second')).toBe('second');
  });

  it('takes the new one of two keys of one name', async () => {
    const [before] = await source.find('first');
    issuer.keys = [{ ...second, jwk: { ...second.jwk, kid: 'first' } }];
    pass(minutes(10));
    const [after, ...others] = await source.find('first');
    expect(after).not.toBe(before);
    expect(others).toEqual([]);
  });

  it('asks again for a key that it does not know', async () => {
    await find('first');
    issuer.keys = [first, second];
    pass(seconds(10));
    expect(await find('second')).toBe('second');
    expect(issuer.asked).toBe(2);
  });

  it('asks at most once in 10 s, however many unknown keys arrive', async () => {
    await find('first');
    for (let second = 0; second < 60; second++) {
      expect(await Promise.all(Array.from({ length: 20 }, (_, i) => find(`unknown-${i}`)))).toEqual(
        Array(20).fill('TokenRefused'),
      );
      pass(seconds(1));
    }
    expect(issuer.asked).toBe(6);
  });

  it('serves known keys for 6 hours while the issuer is down, then none', async () => {
    await find('first');
    issuer.isDown = true;
    pass(minutes(60) * 6 - 1);
    expect(await find('first')).toBe('first');
    expect(await find('unknown')).toBe('KeysUnavailable');
    pass(1);
    expect(await find('first')).toBe('KeysUnavailable');
    expect(await find('unknown')).toBe('KeysUnavailable');
    issuer.isDown = false;
    pass(seconds(10));
    expect(await find('first')).toBe('first');
  });

  it('asks an issuer that is down at most once in 10 s', async () => {
    issuer.isDown = true;
    for (let second = 0; second < 30; second++) {
      expect(await Promise.all([find('first'), find('first')])).toEqual(['KeysUnavailable', 'KeysUnavailable']);
      pass(seconds(1));
    }
    expect(issuer.asked).toBe(3);
    await expect(source.find('first')).rejects.toThrow(KeysUnavailable);
  });

  it('cannot judge an unknown key while the issuer does not answer, and refuses it once it does', async () => {
    await find('first');
    issuer.isDown = true;
    pass(seconds(10));
    expect(await find('second')).toBe('KeysUnavailable');
    expect(await find('first')).toBe('first');
    pass(seconds(5));
    expect(await find('second')).toBe('KeysUnavailable');
    issuer.isDown = false;
    pass(seconds(5));
    expect(await find('second')).toBe('TokenRefused');
    pass(seconds(5));
    expect(await find('third')).toBe('TokenRefused');
    expect(issuer.asked).toBe(3);
  });

  it('gives every key of a name', async () => {
    issuer.keys = [first, { ...second, jwk: { ...second.jwk, kid: 'first' } }];
    expect(await find('first')).toBe('first,first');
  });

  it('gives the only key to a token without kid, whether the key has a name or not', async () => {
    expect(await find(undefined)).toBe('first');
    issuer.keys = [{ ...second, jwk: { ...second.jwk, kid: undefined } as never }];
    pass(minutes(10));
    expect(await find(undefined)).toBe('');
    expect(await source.find(undefined)).toHaveLength(1);
    expect(await find('second')).toBe('TokenRefused');
  });

  it('refuses a token without kid when the issuer has several keys or none', async () => {
    issuer.keys = [first, second];
    expect(await find(undefined)).toBe('TokenRefused');
    issuer.keys = [];
    pass(minutes(10));
    expect(await find(undefined)).toBe('TokenRefused');
  });

  it('says how old the keys are', async () => {
    expect(source.ageInSeconds()).toBeUndefined();
    await find('first');
    pass(seconds(42));
    expect(source.ageInSeconds()).toBe(42);
    issuer.isDown = true;
    pass(minutes(20));
    await find('first');
    expect(source.ageInSeconds()).toBe(42 + 20 * 60);
  });
});

describe('readKeySet', () => {
  it('skips what cannot verify a signature', () => {
    const keys = [null, 1, 'x', [], {}, { kty: 'oct', kid: 'a', k: 'AAAA' }, { ...first.jwk, kid: '' }, second.jwk];
    expect(readKeySet(JSON.stringify({ keys })).map(({ kid, algorithms }) => [kid, algorithms])).toEqual([
      ['second', ['ES256']],
    ]);
  });

  it('reads a set without keys', () => {
    expect(readKeySet('{"keys":[]}')).toEqual([]);
  });

  it.each(['', 'null', '<html>'])('throws for %j', (text) => {
    expect(() => readKeySet(text)).toThrow();
  });

  it.each(['[]', '{}', '{"keys":{}}'])('says what %j lacks', (text) => {
    expect(() => readKeySet(text)).toThrow('A key set has a member `keys`.');
  });

  it('never shows a private part to the verifier', () => {
    const [key] = readKeySet(JSON.stringify({ keys: [{ ...first.jwk, d: 'AAAA', x5u: 'https://evil.example' }] }));
    expect(JSON.stringify(key)).not.toContain('AAAA');
  });
});

describe('httpKeySet', () => {
  async function fetchOf(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      return await httpKeySet(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)();
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  it('gets a key set of up to 1 MB', async () => {
    const text = 'é'.repeat(512 * 1024);
    expect(await fetchOf((_, response) => response.end(text))).toBe(text);
  });

  it('stops reading a larger one', async () => {
    let sent = 0;
    const endless: RequestListener = (_, response) => {
      const write = () => {
        if (response.destroyed) return;
        sent += 65_536;
        response.write(Buffer.alloc(65_536, ' '), write);
      };
      write();
    };
    await expect(fetchOf(endless)).rejects.toThrow("The issuer's key set is larger than 1048576 bytes.");
    expect(sent).toBeLessThan(30 * 1024 * 1024);
  });

  it('stops at 1 MB of a set that is compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, ' '));
    const compressed: RequestListener = (_, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb);
    };
    await expect(fetchOf(compressed)).rejects.toThrow('larger than');
  });

  it('gives up after 2 s', async () => {
    const limit = vi.spyOn(AbortSignal, 'timeout');
    await expect(fetchOf(() => undefined)).rejects.toThrow(/timeout/);
    expect(limit.mock.calls).toEqual([[2_000]]);
    limit.mockRestore();
  });

  it.each(['http://issuer.example/jwks', 'ftp://127.0.0.1/jwks', 'http://127.0.0.1.evil.example/'])(
    'refuses to fetch keys from %s',
    (uri) => {
      expect(() => httpKeySet(uri)).toThrow('keys are fetched over HTTPS');
    },
  );

  it.each(['https://issuer.example/jwks', 'http://127.0.0.1:3001/jwks', 'http://localhost:3001/jwks'])(
    'fetches keys from %s',
    (uri) => {
      expect(httpKeySet(uri)).toBeTypeOf('function');
    },
  );
});
