import { createHash, createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  generateSecretKey,
  keyOfSeed,
  readSecretKey,
  signatureHeaders,
} from '../../../functions/webhooks/signing-key.ts';

/** Verifies as the specification says, with nothing of the service's. */
function verifies(headers: Record<string, string>, body: string, publicKey: string): boolean {
  const raw = Buffer.from(publicKey.replace(/^whpk_/, ''), 'base64');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }, format: 'jwk' });
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return headers['webhook-signature']!.split(' ').some((signature) => {
    const [version, value = ''] = signature.split(',');
    return version === 'v1a' && verify(null, Buffer.from(content), key, Buffer.from(value, 'base64'));
  });
}

const message = { id: 'msg_1', timestamp: 1_795_000_000, body: '{"type":"job.updated","é":1}' };

describe('a signing key', () => {
  const [first, second] = [readSecretKey(generateSecretKey())!, readSecretKey(generateSecretKey())!];

  it('is a random text, and its public key has the form of the specification', () => {
    expect(generateSecretKey()).toMatch(/^[A-Za-z0-9_-]{64}$/);
    expect(first.publicKey).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
    expect(first.publicKey).not.toBe(second.publicKey);
  });

  it('is the same for the same text, always', () => {
    const key = readSecretKey('x'.repeat(64))!;
    expect(key.publicKey).toBe('whpk_uEemMPh55xPtvJw7x5gySKt70GjqzbhycOZ+w1OUqrA=');
    const seed = createHash('sha256').update('x'.repeat(64)).digest();
    expect(keyOfSeed(seed).publicKey).toBe(key.publicKey);
  });

  it('signs what its public key verifies, and no other', () => {
    const headers = signatureHeaders(message, [first]);
    expect(headers).toMatchObject({ 'webhook-id': 'msg_1', 'webhook-timestamp': '1795000000' });
    expect(verifies(headers, message.body, first.publicKey)).toBe(true);
    expect(verifies(headers, message.body, second.publicKey)).toBe(false);
    expect(verifies(headers, `${message.body} `, first.publicKey)).toBe(false);
    expect(verifies({ ...headers, 'webhook-id': 'msg_2' }, message.body, first.publicKey)).toBe(false);
    expect(verifies({ ...headers, 'webhook-timestamp': '1795000001' }, message.body, first.publicKey)).toBe(false);
  });

  it('signs with each of several keys', () => {
    const headers = signatureHeaders(message, [first, second]);
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
    for (const { publicKey } of [first, second]) expect(verifies(headers, message.body, publicKey)).toBe(true);
  });

  it('follows RFC 8032: the first test vector of section 7.1', () => {
    const seed = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
    const publicBytes = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
    const key = keyOfSeed(Buffer.from(seed, 'hex'));
    expect(key.publicKey).toBe(`whpk_${Buffer.from(publicBytes, 'hex').toString('base64')}`);
    const { d } = key.privateKey.export({ format: 'jwk' });
    expect(Buffer.from(d!, 'base64url').toString('hex')).toBe(seed);
  });

  it.each(['', 'x'.repeat(63), `${'x'.repeat(63)} `, `${'x'.repeat(64)}\n`, 'ä'.repeat(64)])(
    'is not read from "%s"',
    (text) => {
      expect(readSecretKey(text)).toBeUndefined();
    },
  );
});
