import { messageSender } from '../../data/aws/message-sender.ts';
import { createBatch } from '../../data/batches/new-batches.ts';
import { recoveryBy } from '../../data/batches/recovery.ts';
import { validateBatch, validateInput } from '../../data/batches/validations.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { answerFaultsOnly } from '../../http/answer-faults-only.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { queueUrl, tableNames } from '../../runtime/env.ts';
import { Claims } from '../../schemas/claims.ts';
import { operation } from './create-batch.operation.ts';

const client = documentClient();
const tables = tableNames(
  'Batches',
  'Jobs',
  'Columns',
  'Sequences',
  'DeviceQueue',
  'Devices',
  'Limits',
  'Usage',
  'Counters',
);
const create = createBatch(client, tables, recoveryBy(messageSender(queueUrl('Recovery'))));
const validate = validateBatch(client, tables);

export const handler = endpoint(
  routes.createBatch,
  operation,
  async ({ userId, headers, query, body, event }) => {
    const call = { userId, idempotencyKey: headers['idempotency-key'] };
    const claims = Claims.parse(event.requestContext.authorizer);
    if (query.validate_only) return success(await validate(call, body, claims));
    const batch = await create(call, body, claims);
    const { jobs, ...withoutJobs } = batch;
    return firstThatFits(batch, withoutJobs);
  },
  answerFaultsOnly(validateInput(client, tables)),
);
