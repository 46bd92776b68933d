import { renderRunbook } from './runbook.ts';

/** A document that a program writes. */
export interface GeneratedDocument {
  /** Its path from the root of the repository. */
  readonly file: string;
  /** Its whole text, always the same for the same code. */
  readonly render: () => string | Promise<string>;
}

/** `npm run docs` writes them; a test fails while a file differs from what its program renders. */
export const documents: readonly GeneratedDocument[] = [{ file: 'docs/runbook.md', render: renderRunbook }];
