/**
 * A batch's name is a tag that begins with `name:`. Clients send and change tags already, and a
 * list can be filtered by one. Of two such tags the first counts.
 */

import { visible } from '../ui/visible-text.ts';

const prefix = 'name:';

interface Named {
  readonly id: string;
  readonly tags: readonly string[];
}

/** The name that people gave; undefined where they gave none. */
export function givenName({ tags }: Pick<Named, 'tags'>): string | undefined {
  const name = tags
    .find((tag) => tag.startsWith(prefix))
    ?.slice(prefix.length)
    .trim();
  return name === '' ? undefined : name;
}

/** What a batch is called: its name, or else the beginning of its id. */
export function nameOf(batch: Named): string {
  return visible(givenName(batch) ?? batch.id.slice(0, 8));
}

/** The tags that are no name. */
export function otherTags({ tags }: Pick<Named, 'tags'>): readonly string[] {
  return tags.filter((tag) => !tag.startsWith(prefix));
}

/** The tag that gives a batch this name. */
export function nameTag(name: string): string {
  return prefix + name.trim();
}
