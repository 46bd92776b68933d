import { submitQuizzes } from '../../data/rows/quizzes.ts';
import { endpoint } from '../../http/endpoint.ts';
import { successList } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { quizText } from '../../schemas/quiz.ts';
import { operation } from './submit-quizzes.operation.ts';

export const handler = endpoint(routes.submitQuizzes, operation, async ({ db, userId, body }) => {
  const records = await submitQuizzes(db, userId, body);
  return successList(records, { total: records.length, start: 0, end: records.length }, quizText);
});
