import { inject } from 'vitest';

const endpoints = inject('dynamodbEndpoints');

/**
 * The DynamoDB Local of this test file. One serves one request at a time, so that several share the
 * files.
 */
export const dynamodbEndpoint = endpoints[Number(process.env.VITEST_POOL_ID) % endpoints.length]!;
