import { describe, expect, it } from 'vitest';
import { handler } from '../../../../functions/endpoints/service/method-not-allowed.ts';
import { gatewayEvent, lambdaContext } from '../../../support/gateway-event.ts';

describe('a path that no route has', () => {
  it('is answered 404', async () => {
    const event = { ...gatewayEvent('listBatches'), resource: '/{path+}', path: '/api/v1/nothing' };
    const { statusCode, headers, body } = await handler(event, lambdaContext());
    expect(statusCode).toBe(404);
    expect(headers).not.toHaveProperty('Allow');
    expect(JSON.parse(body)).toEqual({
      status: 'fail',
      message: 'Not Found',
      code: '404',
      data: { reason: 'unknown_route', description: 'There is no such route.' },
    });
  });
});
