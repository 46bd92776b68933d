import type { Draft, EventMark } from './draft.ts';

/** The event that asks for an operation. Without one, it is asked for directly, and now. */
export interface Event extends EventMark {
  readonly time: string;
}

/** A change of one owner's rows that is made wholly or not at all. */
export interface Operation {
  /** The rows that it looks at: read before. */
  readonly batchIds: readonly string[];
  readonly jobIds: readonly string[];
  readonly event?: Event | undefined;
  /** The draft with the change; the same draft when it is so already. Throws where it may not be. */
  apply(draft: Draft): Draft;
  /** Two operations that do the same one after the other, for when no transaction holds it; undefined: it is small. */
  halves?(): readonly [Operation, Operation] | undefined;
}
