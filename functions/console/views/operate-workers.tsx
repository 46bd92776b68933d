import type { WatchedDevice, Worker } from '../../schemas/watched-device.ts';
import { nameOf } from '../parts/batch-name.ts';
import { linkTo } from '../ui/address.ts';
import { formatSeconds, formatTime, timeOf } from '../ui/format.ts';
import { StatusSign } from '../ui/status.tsx';
import { texts } from '../ui/texts.ts';
import { useNow } from '../ui/use-now.ts';
import { isSilent } from './silent-worker.ts';

const { workers: words } = texts.operate;

/** Of many workers the first, which were seen last. */
const maxShown = 20;

interface Props {
  readonly workers: WatchedDevice['workers'];
  /** Batches whose names are known. */
  readonly queue: readonly { readonly id: string; readonly tags: readonly string[] }[];
}

/** The workers of a device: when each was seen, and what it runs. */
export function WorkersPart({ workers, queue }: Props) {
  const now = useNow();
  const silent = workers.filter((worker) => isSilent(worker, now)).length;
  return (
    <section class="card">
      <div class="bar">
        <h2>{words.title}</h2>
        {workers.length > 0 && <span class="aside push">{words.sum(workers.length - silent, workers.length)}</span>}
      </div>
      {workers.length === 0 && <p class="aside">{words.none}</p>}
      <ul class="lines">
        {workers.slice(0, maxShown).map((worker) => (
          <WorkerLine key={`${worker.worker} ${worker.batch_id}`} worker={worker} now={now} queue={queue} />
        ))}
      </ul>
      {workers.length > maxShown && <p class="aside">{words.more(workers.length - maxShown)}</p>}
    </section>
  );
}

function WorkerLine({ worker, now, queue }: Pick<Props, 'queue'> & { readonly worker: Worker; readonly now: number }) {
  const { seen_at, batch_id, user_id, user_name, job_started_at } = worker;
  const since = (time: string) => {
    const seconds = Math.max(0, Math.round((now - timeOf(time)) / 1_000));
    return formatSeconds(seconds < 600 ? seconds : seconds - (seconds % 60));
  };
  const isGone = isSilent(worker, now);
  return (
    <li>
      <StatusSign status={isGone ? 'ERROR' : 'ACTIVE'} />
      <div>
        <bdi class="strong">{worker.worker === '' ? texts.operate.queue.nameless : worker.worker}</bdi>
        <span class={isGone ? 'failures' : 'aside'} title={formatTime(seen_at)}>
          {isGone ? words.silent(since(seen_at)) : words.seen(since(seen_at))}
        </span>
        {batch_id !== null && user_id !== null && (
          <span class="aside">
            {words.runs}{' '}
            <a href={linkTo(['operate', 'batch', user_id, batch_id])}>
              <bdi>{nameOf({ id: batch_id, tags: [], ...queue.find(({ id }) => id === batch_id) })}</bdi>
            </a>{' '}
            {user_name !== null && (
              <>
                {texts.batch.by} <bdi>{user_name}</bdi>
              </>
            )}
          </span>
        )}
      </div>
      <span class="aside">{job_started_at === null ? words.idle : words.job(since(job_started_at))}</span>
    </li>
  );
}
