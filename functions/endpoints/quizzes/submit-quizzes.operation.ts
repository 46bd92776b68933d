import type { Operation } from '../../http/operation.ts';
import { Quiz, QuizSubmissions, QuizzesBody } from '../../schemas/quiz.ts';

export const operation = {
  tag: 'Quizzes',
  summary: 'Post multiple quizzes',
  description:
    'Stores submissions of the caller, all or none, and returns their records in the order of the body. A record belongs to (caller, CMS quiz id, place in its array): sent again it is updated and keeps its `id` and `created_at`.',
  body: QuizSubmissions,
  bodySchema: QuizzesBody,
  success: { status: 200, list: Quiz },
} satisfies Operation;
