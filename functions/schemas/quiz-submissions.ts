import * as z from 'zod/mini';
import { isJsonArray, isJsonObject, jsonDepth, jsonElements, jsonMembers } from '../json-text.ts';

export const maxQuizIdCharacters = 256;
const maxSubmissions = 100;
const maxSubmissionBytes = 350 * 1024;
const maxDepth = 100;

/** Faults told of one body: a body of 3 MB can have a million. */
const maxFaults = 100;

/** One submission: what a quiz of the content-management system was answered with, and its place among those to that quiz. */
export interface QuizSubmission {
  readonly cms_quiz_id: string;
  readonly position: number;
  /** The JSON text of an object, as it was sent. */
  readonly data: string;
}

/** Reads the text of a body: the submissions in its order. */
export const QuizSubmissions = z.transform((text, context): QuizSubmission[] => {
  const submissions: QuizSubmission[] = [];
  for (const part of readBody(text)) {
    if ('type' in part) {
      const { type, path, message } = part;
      context.issues.push({ code: 'custom', params: { type }, path: [...path], message, input: text });
      if (context.issues.length === maxFaults) break;
    } else if (submissions.push(part) > maxSubmissions) {
      const message = `A call takes at most ${maxSubmissions} submissions`;
      context.issues.push({ code: 'custom', params: { type: 'too_long' }, path: ['data'], message, input: text });
      break;
    }
  }
  return submissions;
});

interface Fault {
  readonly type: string;
  readonly path: readonly (string | number)[];
  readonly message: string;
}

type Parts = Generator<QuizSubmission | Fault>;

function* readBody(body: unknown): Parts {
  if (typeof body !== 'string') return yield { type: 'missing', path: [], message: 'Field required' };
  try {
    JSON.parse(body);
  } catch {
    return yield { type: 'json_invalid', path: [], message: 'JSON decode error' };
  }
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
  if (!isJsonArray(value)) return yield* readSubmission(quizId, 0, value, path);
  for (const [position, element] of jsonElements(value).entries()) {
    yield* readSubmission(quizId, position, element, [...path, position]);
  }
}

function* readSubmission(quizId: string, position: number, data: string, path: Fault['path']): Parts {
  if (!isJsonObject(data)) yield notAnObject(path);
  else if (Buffer.byteLength(data) > maxSubmissionBytes) {
    yield { type: 'bytes_too_long', path, message: `Data should have at most ${maxSubmissionBytes} bytes` };
  } else if (jsonDepth(data) > maxDepth) {
    yield { type: 'too_deep', path, message: `Data should be nested at most ${maxDepth} levels deep` };
  } else yield { cms_quiz_id: quizId, position, data };
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

/** A key as a fault names it: never so long that the answer to a large body is a larger one. */
function printable(key: string): string {
  return key.slice(0, maxQuizIdCharacters).toWellFormed();
}
