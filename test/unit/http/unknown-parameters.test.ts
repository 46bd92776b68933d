import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { unknownParameters } from '../../../functions/http/unknown-parameters.ts';
import { BatchListQuery } from '../../../functions/schemas/batch-list-query.ts';
import { gatewayEvent } from '../../support/gateway-event.ts';

const list = { query: BatchListQuery, success: { status: 200, list: () => z.unknown() } } as const;
const named = (parameters: Record<string, string[]> | null, operation: object = list) => {
  const event = { ...gatewayEvent('listBatches'), multiValueQueryStringParameters: parameters };
  return unknownParameters(operation as typeof list)(event)['X-Unknown-Parameters'];
};

describe('the parameters that a list does not know', () => {
  it.each([
    ['tags', 'tags;near=tag'],
    ['deviceType', 'deviceType;near=device_type'],
    ['order-by-direction', 'order-by-direction;near=order_by_direction'],
    ['limit[]', 'limit%5B%5D;near=limit'],
    ['q', 'q'],
    ['colour', 'colour'],
    ['\r\nSet-Cookie: é\ud800', '%0D%0ASet-Cookie%3A%20%C3%A9%EF%BF%BD'],
    ['__proto__', '__proto__'],
  ])('%j is named as %s', (name, shown) => {
    expect(named(Object.fromEntries([[name, ['x']]]))).toBe(shown);
  });

  it('are at most ten, of 64 characters', () => {
    const names = Array.from({ length: 12 }, (_, at) => `${at}${'z'.repeat(99)}`);
    const shown = named(Object.fromEntries(names.map((name) => [name, ['x']])))!.split(', ');
    expect(shown).toEqual(names.slice(0, 10).map((name) => name.slice(0, 64)));
  });

  it('are not named where all are known, and by no other operation', () => {
    expect([named({ tag: ['a'], offset: ['0'] }), named(null)]).toEqual([undefined, undefined]);
    expect(named({ q: ['a'] }, { ...list, success: { status: 200, data: () => z.unknown() } })).toBeUndefined();
    expect(named({ q: ['a'] }, { success: list.success })).toBeUndefined();
  });
});
