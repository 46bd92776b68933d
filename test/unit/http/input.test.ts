import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { InvalidInput, PayloadTooLarge } from '../../../functions/errors.ts';
import { readBody, readInput } from '../../../functions/http/input.ts';
import { gatewayEvent } from '../../support/gateway-event.ts';

const bodyOf = (body: unknown, isBase64Encoded = false) =>
  readBody(gatewayEvent('submitQuizzes', { body, isBase64Encoded }));
const base64 = (bytes: string | number[]) => Buffer.from(bytes as string).toString('base64');
const megabyte = 1024 * 1024;

describe('readBody', () => {
  it('is undefined when there is none', () => {
    expect(bodyOf(undefined)).toBeUndefined();
    expect(bodyOf('')).toBeUndefined();
  });

  it('gives the text as it was sent', () => {
    expect(bodyOf(' {"é":"🙂"} ')).toBe(' {"é":"🙂"} ');
    expect(bodyOf(base64(' {"é":"🙂"} '), true)).toBe(' {"é":"🙂"} ');
  });

  it('keeps a replacement character that was sent', () => {
    expect(bodyOf(base64('{"a":"\ufffd"}'), true)).toBe('{"a":"\ufffd"}');
  });

  it('drops a byte order mark', () => {
    expect(bodyOf('\uFEFF{}')).toBe('{}');
    expect(bodyOf(base64('\uFEFF{}'), true)).toBe('{}');
    expect(bodyOf(base64('\uFEFF\uFEFF{}'), true)).toBe('\uFEFF{}');
  });

  it.each([
    ['bytes that are not UTF-8', base64([0x7b, 0xff, 0x7d]), true],
    ['compressed bytes', base64([0x1f, 0x8b, 0x08, 0x00]), true],
    ['UTF-16', base64([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]), true],
    ['half of a surrogate pair as bytes', base64([0x7b, 0xed, 0xa0, 0x80, 0x7d]), true],
    ['an overlong encoding', base64([0x7b, 0xc0, 0xaf, 0x7d]), true],
    ['half of a surrogate pair', '{"a":"\ud800"}', false],
    ['text in which the gateway replaced bytes', '{"a":"\ufffd"}', false],
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

/** Takes whatever it is given, and shows it. */
const any = z.unknown();
const event = (request: Parameters<typeof gatewayEvent>[1]) => gatewayEvent('getResultsLink', request);

describe('readInput', () => {
  it('reads the parts that have a schema, and no others', () => {
    const request = event({ path: { job_id: 'a' }, query: 'limit=1&limit=2&tag=', body: '{"a":1}' });
    expect(readInput({}, request)).toEqual({});
    expect(readInput({ path: any, query: any, body: any }, request)).toEqual({
      path: { job_id: 'a' },
      query: { limit: ['1', '2'], tag: [''] },
      body: '{"a":1}',
    });
  });

  it('returns what the schemas make of it', () => {
    const query = z.pipe(
      z.object({ limit: z.array(z.string()) }),
      z.transform(({ limit }) => limit.length),
    );
    expect(readInput({ query }, event({ query: 'limit=1&limit=2' }))).toEqual({ query: 2 });
  });

  it('reads a request without parameters and body', () => {
    expect(readInput({ path: any, query: any, body: any }, event({}))).toEqual({
      path: {},
      query: {},
      body: undefined,
    });
  });

  const eventOfPath = (path: string, job_id: string) => ({ ...event({ path: { job_id } }), path: `/jobs/${path}` });

  it.each([
    ['{a}', '%7Ba%7D', '{a}'],
    ['{a}', '{a}', '{a}'],
    ['a', 'a', 'a'],
    ['', '', ''],
  ])('reads of the path %j the parameter %j as %j, whether it arrives decoded or not', (path, sent, job_id) => {
    expect(readInput({ path: any }, eventOfPath(path, sent))).toEqual({ path: { job_id } });
  });

  it.each([
    ['a%62', 'a%62'],
    ['a%62', 'a%2562'],
    ['%', '%'],
    ['%', '%25'],
    ['%E0%A4', '%E0%A4'],
  ])('refuses of the path %j the parameter %j: a percent sign could be decoded twice', (path, sent) => {
    const faults = [expect.objectContaining({ loc: ['path', 'job_id'], type: 'value_error' })];
    expect(() => readInput({ path: any }, eventOfPath(path, sent))).toThrow(expect.objectContaining({ faults }));
  });

  it('leaves a parameter without value alone', () => {
    const request = { ...event({}), pathParameters: { job_id: undefined } };
    expect(readInput({ path: any }, request)).toEqual({ path: { job_id: undefined } });
  });

  it('reports the faults of all parts at once', () => {
    const operation = {
      path: z.object({ job_id: z.literal('a') }),
      query: z.object({ limit: z.array(z.literal('1')) }),
      body: z.literal('x'),
    };
    const read = () => readInput(operation, event({ path: { job_id: 'b' }, query: 'limit=1&limit=2', body: 'y' }));
    expect(read).toThrow(InvalidInput);
    expect(read).toThrow(
      expect.objectContaining({
        faults: [
          { loc: ['path', 'job_id'], msg: "Input should be 'a'", type: 'enum' },
          { loc: ['query', 'limit', 1], msg: "Input should be '1'", type: 'enum' },
          { loc: ['body'], msg: "Input should be 'x'", type: 'enum' },
        ],
      }),
    );
  });
});
