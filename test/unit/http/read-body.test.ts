import { describe, expect, it } from 'vitest';
import { InvalidInput, PayloadTooLarge } from '../../../functions/errors.ts';
import { readBody } from '../../../functions/http/input.ts';
import { gatewayEvent } from '../../support/gateway-event.ts';

const bodyOf = (body: unknown, isBase64Encoded = false) =>
  readBody(gatewayEvent('submitQuizzes', { body, isBase64Encoded }));
const base64 = (bytes: string | number[]) => Buffer.from(bytes as string).toString('base64');
const megabyte = 1024 * 1024;

describe('readBody', () => {
  it('knows when there is none', () => {
    expect(bodyOf(undefined)).toBeUndefined();
    expect(bodyOf('')).toBeUndefined();
  });

  it('gives the text as it was sent', () => {
    expect(bodyOf(' {"é":"🙂"} ')).toBe(' {"é":"🙂"} ');
    expect(bodyOf(base64(' {"é":"🙂"} '), true)).toBe(' {"é":"🙂"} ');
  });

  it('drops a byte order mark', () => {
    expect(bodyOf('\uFEFF{}')).toBe('{}');
    expect(bodyOf(base64('\uFEFF{}'), true)).toBe('{}');
  });

  it.each([
    ['bytes that are not UTF-8', base64([0x7b, 0xff, 0x7d]), true],
    ['compressed bytes', base64([0x1f, 0x8b, 0x08, 0x00]), true],
    ['UTF-16', base64([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]), true],
    ['half a character', '{"a":"\ud800"}', false],
  ])('refuses %s', (_, body, isBase64Encoded) => {
    expect(() => bodyOf(body, isBase64Encoded)).toThrow(InvalidInput);
  });

  it('takes up to 3 MB, as bytes', () => {
    expect(bodyOf('x'.repeat(3 * megabyte))).toHaveLength(3 * megabyte);
    expect(() => bodyOf('x'.repeat(3 * megabyte + 1))).toThrow(PayloadTooLarge);
    expect(() => bodyOf('é'.repeat(1.6 * megabyte))).toThrow(PayloadTooLarge);
    expect(() => bodyOf(base64('x'.repeat(3 * megabyte + 1)), true)).toThrow(PayloadTooLarge);
  });

  it('takes no more than can be returned', () => {
    expect(() => bodyOf('"'.repeat(2.9 * megabyte))).toThrow(PayloadTooLarge);
  });
});
