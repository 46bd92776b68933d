import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { endpoint } from '../../../functions/http/endpoint.ts';
import type { Operation } from '../../../functions/http/operation.ts';
import { success } from '../../../functions/http/reply.ts';
import { routes } from '../../../functions/routes.ts';
import { gatewayEvent, lambdaContext } from '../../support/gateway-event.ts';

const operation = {
  tag: 'Service',
  summary: 'A test',
  description: 'A test.',
  query: z.object({ limit: z.literal('1') }),
  success: { status: 200, data: () => z.unknown() },
} satisfies Operation;
const { addJobs } = routes;
const used = [
  'Batches',
  'Columns',
  'Contributors',
  'Counters',
  'DeviceQueue',
  'Devices',
  'Jobs',
  'Limits',
  'Sequences',
  'Usage',
];
const variableOf = (name: string) => `${name.replace(/\B[A-Z]/g, '_$&').toUpperCase()}_TABLE`;

beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  for (const name of [...used, 'Audit']) vi.stubEnv(variableOf(name), `the ${name}`);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe('endpoint', () => {
  const tables = Object.fromEntries(used.map((name) => [name, `the ${name}`]));

  it('hands out a database of exactly the tables that its route uses', async () => {
    expect(addJobs.uses).toMatchObject({ 'Jobs/by_creation': ['Query'], Recovery: ['SendMessage'] });
    const handler = endpoint(addJobs, { ...operation, query: z.unknown() }, ({ db }) => {
      // @ts-expect-error No other table has a name here.
      expect(db.tables.Audit).toBeUndefined();
      return success(db.tables);
    });
    const { body } = await handler(gatewayEvent('addJobs', { userId: 'auth0|ada' }), lambdaContext());
    expect(JSON.parse(body).data).toEqual(tables);
  });

  it('hands it out to what answers faults, too', async () => {
    const handler = endpoint(
      addJobs,
      operation,
      () => expect.unreachable(),
      async ({ userId, db }) => success({ userId, ...db.tables }),
    );
    const { body } = await handler(gatewayEvent('addJobs', { userId: 'auth0|ada' }), lambdaContext());
    expect(JSON.parse(body).data).toEqual({ userId: 'auth0|ada', ...tables });
  });

  it.each(used)('names the variable of %s when it is missing, before any request', (name) => {
    vi.stubEnv(variableOf(name), undefined);
    expect(() => endpoint(addJobs, operation, () => success(1))).toThrow(
      `The environment variable ${variableOf(name)} is not set.`,
    );
  });
});
