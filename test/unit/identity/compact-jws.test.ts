import { describe, expect, it } from 'vitest';
import { readCompactJws, readJsonObject, TokenRefused } from '../../../functions/identity/compact-jws.ts';
import { encoded } from '../../support/token-issuer.ts';

describe('readCompactJws', () => {
  const header = encoded({ alg: 'RS256', kid: 'key-1' });
  const payload = encoded({ sub: 'x' });

  it('takes a token apart, and keeps its parts as they were sent', () => {
    expect(readCompactJws(`${header}.${payload}.AAAA`)).toEqual({
      header: { alg: 'RS256', kid: 'key-1' },
      payload: Buffer.from('{"sub":"x"}'),
      encoded: [header, payload, 'AAAA'],
    });
  });

  it('takes up to 8 KB', () => {
    const upTo = (length: number) => {
      const start = `${header}.${payload}.`;
      return start + 'A'.repeat(length - start.length);
    };
    expect(readCompactJws(upTo(8192)).encoded[2]).toMatch(/^A+$/);
    expect(() => readCompactJws(upTo(8193))).toThrow(new TokenRefused('longer than 8 KB'));
  });
});

describe('readJsonObject', () => {
  it.each(['{"a":1}', ' {\n"a" : 1 }\t'])('reads %j', (text) => {
    expect(readJsonObject(Buffer.from(text))).toEqual({ a: 1 });
  });

  it.each(['', 'null', '[]', '"{}"', '1', '{', '{"a":1', '{"a":1}}', "{'a':1}", '\uFEFF{}', '{"a":01}'])(
    'reads no object from %j',
    (text) => {
      expect(() => readJsonObject(Buffer.from(text))).toThrow(new TokenRefused('not JSON objects'));
    },
  );

  it('reads no bytes that are not UTF-8, even where they could be replaced', () => {
    expect(() => readJsonObject(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toThrow(
      new TokenRefused('not JSON objects'),
    );
  });
});
