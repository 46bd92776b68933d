import type { QueuedBatch } from '../../schemas/queued-batch.ts';
import type { Loaded } from '../client/use-call.ts';
import { nameOf } from '../parts/batch-name.ts';
import { linkToLimitsOf } from '../parts/limit-link.tsx';
import { go, linkTo } from '../ui/address.ts';
import { Person, Shown, Time } from '../ui/basics.tsx';
import { formatCount, formatSeconds, timeOf } from '../ui/format.ts';
import { JobsCell } from '../ui/jobs-cell.tsx';
import { Pager } from '../ui/pager.tsx';
import { RowMenu } from '../ui/row-menu.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';

const { queue: words } = texts.operate;

export const queuePageSize = 50;

/** What can be done with a batch of the queue. */
export type QueueAct = 'cancel' | 'priority';

interface Props {
  readonly deviceType: string;
  readonly list: Loaded<QueuedBatch[]>;
  /** How many workers have; undefined until it is known. */
  readonly atWork: number | undefined;
  readonly ask: (act: QueueAct, batch: QueuedBatch) => void;
}

/** What waits for a device and what its workers have, in the order in which it is claimed. */
export function QueuePart({ deviceType, list, atWork, ask }: Props) {
  const total = list.answer?.pagination?.total;
  const link = (to: number) => linkTo(['operate', 'device', deviceType], { offset: to === 0 ? undefined : String(to) });
  return (
    <section>
      <div class="section">
        <h2>
          {words.title}
          {total !== undefined && ` (${formatCount(total)})`}
        </h2>
        {total !== undefined && atWork !== undefined && total > 0 && (
          <span class="aside push">{words.sum(atWork, Math.max(0, total - atWork))}</span>
        )}
      </div>
      <Shown loaded={list}>
        {(batches) =>
          batches.length === 0 ? (
            <p class="aside">{words.none}</p>
          ) : (
            <Table
              label={words.of(deviceType)}
              kind="rows cards-below"
              columns={columnsFor(batches, ask)}
              rows={batches}
              keyOf={({ id }) => id}
            />
          )
        }
      </Shown>
      <Pager pagination={list.answer?.pagination} limit={queuePageSize} linkTo={link} />
    </section>
  );
}

/** The priority that needs no mention. */
const usualPriority = 'MEDIUM';

function columnsFor(batches: readonly QueuedBatch[], ask: Props['ask']): readonly Column<QueuedBatch>[] {
  const { columns } = words;
  const hasWorker = batches.some(({ lease }) => lease !== null);
  return [
    [columns.place, (batch) => <Place batch={batch} />, 'at-status'],
    [columns.batch, (batch) => <Name batch={batch} />, 'fill at-name'],
    [columns.owner, ({ user_id, user_name }) => <Person id={user_id} name={user_name} />, 'at-more'],
    [columns.jobs, (batch) => <JobsCell counts={batch.jobs_count_per_status} />, 'at-jobs'],
    [columns.waits, (batch) => <Waits batch={batch} />, 'number at-when'],
    ...(hasWorker
      ? [[columns.worker, ({ lease }: QueuedBatch) => <Lease lease={lease} />, 'roomy-only'] as const]
      : []),
    [
      columns.actions,
      (batch) => (
        <RowMenu
          label={`${columns.actions} ${nameOf(batch)}`}
          items={[
            ...(['priority', 'cancel'] as const).map((act) => ({
              text: words.titles[act],
              label: `${words[act]} ${batch.id}`,
              isDanger: act === 'cancel',
              isDisabled: act === 'priority' && batch.lease !== null,
              run: () => ask(act, batch),
            })),
            { text: words.ownersLimits, run: () => go(linkToLimitsOf(batch.user_id)) },
          ]}
        />
      ),
      'tight at-menu',
    ],
  ];
}

function Place({ batch: { position, status } }: { readonly batch: QueuedBatch }) {
  if (position !== null) return <>{formatCount(position + 1)}</>;
  return status === 'PENDING' ? words.held : <Status status={status} />;
}

function Name({ batch }: { readonly batch: QueuedBatch }) {
  const { id, user_id, queue_priority, open } = batch;
  return (
    <span class="name">
      <a href={linkTo(['operate', 'batch', user_id, id])} title={id}>
        <bdi>{nameOf(batch)}</bdi>
      </a>
      {(queue_priority !== usualPriority || open) && (
        <span class="tags">
          {queue_priority !== usualPriority && <span>{texts.priorityWords[queue_priority]}</span>}
          {open && <span>{texts.batches.open}</span>}
        </span>
      )}
    </span>
  );
}

/** How long a batch has waited; of one at work, since when it is. */
function Waits({ batch: { created_at, start_datetime, lease } }: { readonly batch: QueuedBatch }) {
  if (lease !== null) {
    if (start_datetime === null) return null;
    return (
      <>
        {words.since} <Time time={start_datetime} />
      </>
    );
  }
  const wait = (time: string) => formatSeconds(Math.max(0, (Date.now() - timeOf(time)) / 1_000));
  return <Time time={created_at} format={wait} />;
}

function Lease({ lease }: Pick<QueuedBatch, 'lease'>) {
  if (lease === null) return null;
  return (
    <span title={`${words.until} ${lease.expires_at}`}>
      <bdi>{lease.worker ?? words.nameless}</bdi>
      {lease.losses > 0 && <span class="failures"> · {words.losses(lease.losses)}</span>}
    </span>
  );
}
