import { messageSender } from '../../data/aws/message-sender.ts';
import { addJobs } from '../../data/batches/new-batches.ts';
import { recoveryBy } from '../../data/batches/recovery.ts';
import { validateInput, validateJobs } from '../../data/batches/validations.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { answerFaultsOnly } from '../../http/answer-faults-only.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { queueUrl, tableNames } from '../../runtime/env.ts';
import { Claims } from '../../schemas/claims.ts';
import { operation } from './add-jobs.operation.ts';

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
const add = addJobs(client, tables, recoveryBy(messageSender(queueUrl('Recovery'))));
const validate = validateJobs(client, tables);

export const handler = endpoint(
  routes.addJobs,
  operation,
  async ({ userId, path, headers, query, body, event }) => {
    const call = { userId, idempotencyKey: headers['idempotency-key'] };
    const claims = Claims.parse(event.requestContext.authorizer);
    if (query.validate_only) return success(await validate(call, path.batch_id, body, claims));
    const batch = await add(call, path.batch_id, body, claims);
    const { jobs, ...withoutJobs } = batch;
    return firstThatFits(batch, withoutJobs);
  },
  answerFaultsOnly(validateInput(client, tables)),
);
