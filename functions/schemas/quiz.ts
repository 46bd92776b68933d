import * as z from 'zod/mini';
import {
  isJsonArray,
  isJsonObject,
  isObject,
  jsonDepth,
  jsonElements,
  jsonMembers,
  parseJson,
} from '../values/json-text.ts';
import { type Fault, maxFaultsCounted, printable, reportFault } from './faults.ts';
import { jsonTextBody, maxJsonDepth } from './json-body.ts';
import { JsonObject, Timestamp, Uuid } from './values.ts';

export const maxQuizIdCharacters = 256;
const maxSubmissions = 100;
const maxSubmissionBytes = 350 * 1024;

/** A stored quiz submission as it is answered. */
export const Quiz = z
  .strictObject({
    id: Uuid,
    created_at: Timestamp,
    updated_at: Timestamp,
    user_id: z.string(),
    cms_quiz_id: z.string(),
    data: JsonObject(),
  })
  .register(z.globalRegistry, {
    id: 'ProducedQuizResponse',
    fields: {
      id: 'Id of the record: the same for each submission of this user to this quiz at this place.',
      created_at: 'When it was first submitted.',
      updated_at: 'When it was last submitted.',
      user_id: 'User who submitted it: the caller.',
      cms_quiz_id: 'Id of the quiz in the content-management system.',
      data: 'The quiz, its possible choices and the user’s answer, exactly as sent.',
    },
    examples: [
      {
        id: '5a1c0a4e-7f0e-8c52-9d1b-3f0e6f2b4c0e',
        created_at: '2026-11-18T12:54:00.000387Z',
        updated_at: '2026-11-18T12:54:00.000387Z',
        user_id: '0f8d1c52-3b1e-4d59-9a53-6e2b7a1c4d10',
        cms_quiz_id: 'quiz-1',
        data: { question: '1 + 1', choices: [1, 2], answer: 2 },
      },
    ],
  });

/** Reads from a row what a Quiz shows of it; `data` stays the text that was sent. */
export const QuizRow = z.object({
  ...Quiz.shape,
  data: z.string().check(z.refine((text) => isObject(parseJson(text)))),
});
export type QuizRow = z.infer<typeof QuizRow>;

/** The JSON of a Quiz: parsing `data` would alter numbers and the order of keys. */
export function quizText({ data, ...record }: QuizRow): string {
  return `${JSON.stringify(record).slice(0, -1)},"data":${data}}`;
}

/**
 * One submission: the answer to a quiz of the content-management system, and its place among the
 * submissions to that quiz.
 */
export interface QuizSubmission {
  readonly cms_quiz_id: string;
  readonly position: number;
  /** The JSON text of an object, as it was sent. */
  readonly data: string;
}

/** Reads the text of a body: the submissions in their order, each as it was sent. */
export const QuizSubmissions = jsonTextBody((text, context): QuizSubmission[] => {
  const submissions: QuizSubmission[] = [];
  for (const part of readBody(text)) {
    if ('type' in part) {
      reportFault(context, part);
      if (context.issues.length === maxFaultsCounted) break;
    } else if (submissions.push(part) > maxSubmissions) {
      const message = `A call takes at most ${maxSubmissions} submissions`;
      reportFault(context, { type: 'too_long', path: ['data'], message });
      break;
    }
  }
  return submissions;
});

type Parts = Generator<QuizSubmission | Fault>;

function* readBody(body: string): Parts {
  if (!isJsonObject(body)) return yield notAnObject([]);
  const data = jsonMembers(body).get('data');
  if (data === undefined) return yield { type: 'missing', path: ['data'], message: 'Field required' };
  if (!isJsonObject(data)) return yield notAnObject(['data']);
  for (const [quizId, value] of jsonMembers(data)) yield* readQuiz(quizId, value);
}

function* readQuiz(quizId: string, value: string): Parts {
  const path = ['data', printable(quizId)];
  const fault = quizIdFault(quizId);
  if (fault !== undefined) yield { ...fault, path };
  if (!isJsonArray(value)) return yield* readSubmission({ cms_quiz_id: quizId, position: 0, data: value }, path);
  for (const [position, element] of jsonElements(value).entries()) {
    yield* readSubmission({ cms_quiz_id: quizId, position, data: element }, [...path, position]);
  }
}

function* readSubmission(submission: QuizSubmission, path: Fault['path']): Parts {
  const { data } = submission;
  if (!isJsonObject(data)) yield notAnObject(path);
  else if (Buffer.byteLength(data) > maxSubmissionBytes) {
    yield { type: 'bytes_too_long', path, message: `Data should have at most ${maxSubmissionBytes} bytes` };
  } else if (jsonDepth(data) > maxJsonDepth) {
    yield { type: 'too_deep', path, message: `Data should be nested at most ${maxJsonDepth} levels deep` };
  } else yield submission;
}

function quizIdFault(quizId: string): Omit<Fault, 'path'> | undefined {
  if (quizId === '') return { type: 'string_too_short', message: 'String should have at least 1 character' };
  if ([...quizId].length > maxQuizIdCharacters) {
    return { type: 'string_too_long', message: `String should have at most ${maxQuizIdCharacters} characters` };
  }
  if (!quizId.isWellFormed()) return { type: 'string_unicode', message: 'Input should be a valid Unicode string' };
  return undefined;
}

function notAnObject(path: Fault['path']): Fault {
  return { type: 'dict_type', path, message: 'Input should be a valid dictionary' };
}
