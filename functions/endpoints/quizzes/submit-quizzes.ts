import { documentClient } from '../../data/dynamodb/client.ts';
import { submitQuizzes } from '../../data/rows/quizzes.ts';
import { endpoint } from '../../http/endpoint.ts';
import { successList } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { quizText } from '../../schemas/quiz.ts';
import { operation } from './submit-quizzes.operation.ts';

/**
 * A transaction of 3 MB, or one of many on the same records, is slow: two calls of three attempts
 * each fit the function's time.
 */
const submit = submitQuizzes(documentClient(2_000), tableNames('Quizzes'));

export const handler = endpoint(routes.submitQuizzes, operation, async ({ userId, body }) => {
  const records = await submit(userId, body);
  return successList(records, { total: records.length, start: 0, end: records.length }, quizText);
});
