import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../functions/errors.ts';
import { pageReply, successReply } from '../../../functions/http/reply.ts';

/** The page that a list of `total` numbers answers with. */
function pageOf(total: number, offset: number, limit: number) {
  const items = Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, index) => offset + index);
  const { body, headers } = successReply(200, pageReply({ offset, limit }, { items, total }));
  return {
    ...JSON.parse(body),
    range: headers['Content-Range'],
    exposed: headers['Access-Control-Expose-Headers'],
  };
}

describe('pageReply', () => {
  it.each([
    { total: 0, offset: 0, limit: 100, end: 0, range: '*/0' },
    { total: 1, offset: 0, limit: 100, end: 1, range: '1-1/1' },
    { total: 250, offset: 0, limit: 100, end: 100, range: '1-100/250' },
    { total: 250, offset: 200, limit: 100, end: 250, range: '201-250/250' },
    { total: 200, offset: 100, limit: 100, end: 200, range: '101-200/200' },
    { total: 250, offset: 250, limit: 100, end: 250, range: '*/250' },
    { total: 250, offset: 9000, limit: 100, end: 9000, range: '*/250' },
    { total: 3, offset: Number.MAX_SAFE_INTEGER, limit: 100, end: Number.MAX_SAFE_INTEGER, range: '*/3' },
  ])('places $offset + $limit of $total', ({ total, offset, limit, end, range }) => {
    expect(pageOf(total, offset, limit)).toEqual({
      status: 'success',
      message: 'OK.',
      code: '200',
      data: Array.from({ length: Math.max(0, end - offset) }, (_, index) => offset + index),
      pagination: { total, start: offset, end },
      range,
      exposed: 'Content-Range',
    });
  });

  it('leads a client that walks by `end` over every item once', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.integer({ min: 1, max: 100 }), (total, limit) => {
        const seen: number[] = [];
        let offset = 0;
        for (let pages = 0; pages <= total; pages++) {
          const { data, pagination } = pageOf(total, offset, limit);
          seen.push(...data);
          offset = pagination.end;
          if (offset >= pagination.total) break;
        }
        expect(seen).toEqual(Array.from({ length: total }, (_, index) => index));
      }),
    );
  });

  it('asks for a smaller limit if a page and its headers are more than one response holds', () => {
    const page = (bytes: number) => ({ items: ['x'.repeat(bytes)], total: 1 });
    const most = 6 * 1024 * 1024 - 16 * 1024 - successReply(200, pageReply(first, page(0))).body.length - escapedQuotes;
    const msg = 'The page is larger than a response may be: ask for fewer items';
    expect(() => pageReply(first, page(most + 1))).toThrow(InvalidInput);
    expect(() => pageReply(first, page(most + 1))).toThrow(
      expect.objectContaining({ faults: [{ loc: ['query', 'limit'], msg, type: 'page_too_large' }] }),
    );
    expect(successReply(200, pageReply(first, page(most))).body.length).toBeGreaterThan(6_000_000);
  });
});

const first = { offset: 0, limit: 1 };
/**
 * Lambda returns the body as a JSON string: that adds a backslash before each quote of the
 * envelope, and the string's own quotes.
 */
const escapedQuotes = successReply(200, pageReply(first, { items: [''], total: 1 })).body.split('"').length - 1 + 2;

describe('successReply', () => {
  it.each([
    [200, '{"status":"success","message":"OK.","code":"200","data":{"a":1}}'],
    [201, '{"status":"success","message":"Created.","code":"201","data":{"a":1}}'],
  ] as const)('names the status %i in the envelope', (status, body) => {
    expect(successReply(status, { data: '{"a":1}' })).toEqual({ status, headers: {}, body });
  });

  it('leaves a whole body as it is', () => {
    expect(successReply(200, { body: '{}', headers: { A: 'b' } })).toEqual({
      status: 200,
      headers: { A: 'b' },
      body: '{}',
    });
  });
});
