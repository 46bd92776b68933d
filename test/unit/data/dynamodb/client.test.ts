import { expect, it } from 'vitest';
import { documentClient } from '../../../../functions/data/dynamodb/client.ts';

it('has a logger without `info`, for which the SDK would copy every answer', () => {
  const { logger } = documentClient().config;
  expect(logger).toBeDefined();
  expect(logger).not.toHaveProperty('info');
});
