import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { maxQuizIdCharacters, Quiz, QuizSubmissions } from '../../schemas/quiz.ts';

export const operation = {
  tag: 'Quizzes',
  summary: 'Post multiple quizzes',
  description: `Stores one record for each submission, all or none, and answers with the records in the order of the body. A
submission is identified by its user, quiz and place in the array. Sent again, it updates its record, which keeps \`id\` and
\`created_at\`; so a repeated call stores nothing twice. \`data\` comes back byte for byte, including numbers and the order of keys. A call takes at most 100 submissions and 3 MB.
More than 400 KB, including the replaced records, may be refused (413), because the database takes about 500 KB a second from one
user: send them in several calls.`,
  body: QuizSubmissions,
  bodySchema: () => {
    const Submission = z.record(z.string(), z.unknown()).register(z.globalRegistry, { id: 'ConsumedQuiz' });
    const quizId = z.string().check(z.minLength(1), z.maxLength(maxQuizIdCharacters));
    return z.object({ data: z.record(quizId, z.union([Submission, z.array(Submission)])) }).register(z.globalRegistry, {
      id: 'ConsumedMultipleQuizzesRequest',
      fields: {
        data: `Submissions by CMS quiz id (1 to ${maxQuizIdCharacters} characters): one object, or an array of them. At most 100 in all, each of at most 350 KB and 100 levels.`,
      },
      // The answer to it is the example of Quiz.
      examples: [{ data: { 'quiz-1': [{ question: '1 + 1', choices: [1, 2], answer: 2 }] } }],
    });
  },
  success: { status: 200, list: () => Quiz },
} satisfies Operation;
