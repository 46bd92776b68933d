import { documentClient } from '../../data/dynamodb/client.ts';
import { type QuizRecord, submitQuizzes } from '../../data/quizzes.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { successList } from '../../http/reply.ts';
import { QuizSubmissions } from '../../schemas/quiz-submissions.ts';

/** A transaction of 3 MB, or one among many on the same records, takes its time; two calls of three attempts fit the function's. */
const submit = submitQuizzes(documentClient(2_000), tableNames('Quizzes'));

/** Stores the caller's quiz submissions, all or none, and answers with their records in the order of the body. */
export const handler = endpoint({ body: QuizSubmissions }, async ({ userId, body }) => {
  const records = await submit(userId, body);
  return successList(records.map(recordText), { total: records.length, start: 0, end: records.length });
});

function recordText({ data, ...record }: QuizRecord): string {
  return `${JSON.stringify(record).slice(0, -1)},"data":${data}}`;
}
