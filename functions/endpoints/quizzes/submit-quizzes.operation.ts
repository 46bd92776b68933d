import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { maxQuizIdCharacters, Quiz, QuizSubmissions } from '../../schemas/quiz.ts';

export const operation = {
  tag: 'Quizzes',
  summary: 'Post multiple quizzes',
  description:
    'Stores all submissions of the body, or none, and answers with their records in the same order. A submission is known by its user, quiz and place in the array: sent again, it updates its record, which keeps `id` and `created_at`.',
  body: QuizSubmissions,
  bodySchema: () => {
    const Submission = z.record(z.string(), z.unknown()).register(z.globalRegistry, { id: 'ConsumedQuiz' });
    const quizId = z.string().check(z.minLength(1), z.maxLength(maxQuizIdCharacters));
    return z.object({ data: z.record(quizId, z.union([Submission, z.array(Submission)])) }).register(z.globalRegistry, {
      id: 'ConsumedMultipleQuizzesRequest',
      fields: {
        data: 'Submissions by CMS quiz id: one object, or an array of them. At most 100 in all, each of at most 350 KB and 100 levels.',
      },
      examples: [
        { data: { 'quiz-1': { question: '1 + 1', choices: [1, 2], answer: 2 }, 'quiz-2': [{ answer: 'a' }] } },
      ],
    });
  },
  success: { status: 200, list: () => Quiz },
} satisfies Operation;
