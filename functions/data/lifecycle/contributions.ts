import { nameTag } from '../columns/head.ts';
import type { Draft } from './draft.ts';

/** The newest of a user's other projects that get a new name. */
const maxRenamed = 20;

interface Contribution {
  readonly userId: string;
  readonly projectId: string;
  /** Undefined where the token says none, and for events. */
  readonly userName: string | undefined;
}

/**
 * The draft with what a user's row in a project changes in the table of contributors. Call it
 * before the row is placed: the head's texts say whether it is the user's first row there.
 *
 * - A first row makes the user known in the project: 2 write units.
 * - A name that differs from the one that the head remembers is written into this project and the
 *   20 newest others.
 * - A first row without a name changes no other name. The head forgets its tag, so that the next
 *   call with a name writes it everywhere.
 * - Otherwise it returns the same draft.
 */
export function withContributor(draft: Draft, { userId, projectId, userName }: Contribution): Draft {
  const { n: tagBefore, ...untagged } = draft.heads.batch;
  const known = untagged.dictionaries.project_id ?? [];
  const tag = userName === undefined ? undefined : nameTag(userName);
  const isRenamed = tag !== undefined && tag !== tagBefore;
  if (!isRenamed && known.includes(projectId)) return draft;
  const others = isRenamed ? known.filter((id) => id !== projectId).slice(-maxRenamed) : [];
  const name = userName === undefined ? {} : { user_name: userName };
  const contributors = [projectId, ...others].map((project_id) => ({ project_id, user_id: userId, ...name }));
  const batch = tag === undefined ? untagged : { ...untagged, n: tag };
  return {
    ...draft,
    heads: { ...draft.heads, batch },
    contributors: [...draft.contributors, ...contributors],
  };
}
