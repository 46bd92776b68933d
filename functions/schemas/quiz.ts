/** What the OpenAPI document says of quizzes; quiz-submissions.ts reads them. */

import * as z from 'zod/mini';
import { maxQuizIdCharacters } from './quiz-submissions.ts';
import { JsonObject, Timestamp, Uuid } from './values.ts';

/** A stored quiz submission as it is answered. */
export const Quiz = z.strictObject({
  id: Uuid.check(z.describe('The same for each submission of this user to this quiz at this place.')),
  created_at: Timestamp.check(z.describe('When it was first submitted.')),
  updated_at: Timestamp.check(z.describe('When it was last submitted.')),
  user_id: z.string().check(z.describe('User who submitted it: the caller.')),
  cms_quiz_id: z.string().check(z.describe('Id of the quiz in the content-management system.')),
  data: JsonObject.check(
    z.describe('The quiz, its possible choices and the user’s answer, exactly as they were sent.'),
  ),
});

/** The body of a submission. */
export const QuizzesBody = z.object({
  data: z
    .record(
      z.string().check(z.minLength(1), z.maxLength(maxQuizIdCharacters)),
      z.union([JsonObject, z.array(JsonObject)]),
    )
    .check(
      z.describe(
        'Submissions by CMS quiz id: one object, or an array of them. At most 100 in all, each of at most 350 KB and 100 levels.',
      ),
      z.meta({
        examples: [{ 'quiz-1': { question: '1 + 1', choices: [1, 2], answer: 2 }, 'quiz-2': [{ answer: 'a' }] }],
      }),
    ),
});
