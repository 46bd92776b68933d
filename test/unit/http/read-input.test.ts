import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { InvalidInput } from '../../../functions/errors.ts';
import { readInput } from '../../../functions/http/input.ts';
import { gatewayEvent } from '../../support/gateway-event.ts';

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

  it('hands on what the schemas make of it', () => {
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

  it.each([
    ['%7Ba%7D', '{a}'],
    ['a', 'a'],
    ['%', '%'],
    ['%E0%A4', '%E0%A4'],
    ['', ''],
  ])('decodes %j of a path where it can', (sent, job_id) => {
    expect(readInput({ path: any }, event({ path: { job_id: sent } }))).toEqual({ path: { job_id } });
  });

  it('leaves a parameter without value alone', () => {
    const request = { ...event({}), pathParameters: { job_id: undefined } };
    expect(readInput({ path: any }, request)).toEqual({ path: { job_id: undefined } });
  });

  it('tells the faults of all parts at once', () => {
    const schemas = {
      path: z.object({ job_id: z.literal('a') }),
      query: z.object({ limit: z.array(z.literal('1')) }),
      body: z.literal('x'),
    };
    const read = () => readInput(schemas, event({ path: { job_id: 'b' }, query: 'limit=1&limit=2', body: 'y' }));
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
