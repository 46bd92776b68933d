import { nameTag } from '../columns/head.ts';
import type { Draft } from './draft.ts';

/** Of a user's other projects, the newest so many get a new name. */
const maxRenamed = 20;

interface Contribution {
  readonly userId: string;
  readonly projectId: string;
  /** Undefined where the token says none, and for events. */
  readonly userName: string | undefined;
}

/**
 * The draft in which a user's row in a project is known: before the row is placed, because the
 * head's texts say whether it is the first one there. The same draft where it is not, unless the
 * token has another name than the head remembers. Then the user's items of this project and of up
 * to 20 others get it. A first row without a name changes none: the next call with a name finds no
 * tag, and writes them all.
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
