import { NotHere } from './deployment.ts';

/**
 * Throws when a promise is not kept, NotHere where it cannot be. A text that it returns is printed.
 */
export type Check<Subject> = (subject: Subject) => Promise<unknown>;

/** What is checked, by what it promises. */
export type Checks<Subject> = Readonly<Record<string, Check<Subject>>>;

export interface Outcome {
  readonly result: 'holds' | 'fails' | 'not here';
  readonly detail: string;
}

export async function examine<Subject>(check: Check<Subject>, subject: Subject): Promise<Outcome> {
  try {
    const facts = await check(subject);
    return { result: 'holds', detail: typeof facts === 'string' ? facts : '' };
  } catch (error) {
    const detail = (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
    return { result: error instanceof NotHere ? 'not here' : 'fails', detail };
  }
}
