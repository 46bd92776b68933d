import type { Job } from '../../schemas/job.ts';
import { useCall } from '../client/use-call.ts';
import { go, linkTo } from '../ui/address.ts';
import { Icon } from '../ui/icon.tsx';
import { useKeys } from '../ui/keys.ts';
import { texts } from '../ui/texts.ts';
import { differenceOf } from './job-difference.ts';

const { job: words } = texts;

interface Neighbors {
  readonly previous: Job | undefined;
  readonly next: Job | undefined;
  /** Jobs of the batch; undefined until it is known. */
  readonly count: number | undefined;
}

/**
 * The jobs before and after one in its batch. It reads no more than three jobs: places in a batch
 * have no gaps, so a place is an offset in the list.
 */
export function useNeighbors(job: Job | undefined): Neighbors {
  const place = job?.creation_order ?? 0;
  const offset = Math.max(0, place - 1);
  const query = {
    batch_id: job?.batch_id,
    // Without its owner, the list would have own jobs only.
    user_id: job?.user_id,
    order_by: 'creation_order',
    order_by_direction: 'ASC',
    offset: String(offset),
    limit: String(place - offset + 2),
  };
  const list = useCall<Job[]>(job === undefined ? null : '/api/v2/jobs', { query, keepsAnswer: true });
  // Until the next answer, the last one may know a neighbor already.
  const known = list.answer?.data.filter(({ batch_id }) => batch_id === job?.batch_id) ?? [];
  const at = (order: number) => known.find(({ creation_order }) => creation_order === order);
  return { previous: at(place - 1), next: at(place + 1), count: list.answer?.pagination?.total };
}

/** Links to them, which say what differs there; keys do the same. */
export function NeighborLinks({ job, previous, next }: Neighbors & { readonly job: Job }) {
  const show = (other: Job | undefined) => other && (() => go(linkTo(['job', other.id])));
  useKeys({ j: show(next), k: show(previous) });
  if (previous === undefined && next === undefined) return null;
  return (
    <nav class="pair" aria-label={words.neighbors}>
      {previous !== undefined && (
        <a class="button" rel="prev" href={linkTo(['job', previous.id])} title={words.previous}>
          <Icon name="previous" />
          <bdi>{differenceOf(job, previous)}</bdi> <kbd>K</kbd>
        </a>
      )}
      {next !== undefined && (
        <a class="button" rel="next" href={linkTo(['job', next.id])} title={words.next}>
          <kbd>J</kbd> <bdi>{differenceOf(job, next)}</bdi>
          <Icon name="next" />
        </a>
      )}
    </nav>
  );
}
