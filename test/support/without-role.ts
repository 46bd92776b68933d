import type { Member } from '../../functions/data/projects/access.ts';

/** A caller whose token names no project: lists show own rows alone. */
export function withoutRole(userId: string): Member {
  return { userId, claims: {} };
}
