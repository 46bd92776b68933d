import { useState } from 'preact/hooks';
import type { QueuedBatch } from '../../schemas/queued-batch.ts';
import type { Api } from '../client/public-api.ts';
import { useAction, useCall } from '../client/use-call.ts';
import { linkTo, useAddress } from '../ui/address.ts';
import { Empty, Id, type Named, Person, Shown, Time } from '../ui/basics.tsx';
import { Field } from '../ui/field.tsx';
import { Options, Question } from '../ui/form.tsx';
import { formatCount } from '../ui/format.ts';
import { JobsCell } from '../ui/jobs-cell.tsx';
import { Pager } from '../ui/pager.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';

const { queue: words } = texts.operate;

const pageSize = 50;

type Act = 'cancel' | 'priority';

interface Asked {
  readonly act: Act;
  readonly batch: QueuedBatch;
}

/** What waits for a device and what its workers have, in the order in which it is claimed. */
export function QueuePart({ deviceType }: { readonly deviceType: string }) {
  const offset = Number(useAddress().query.get('offset') ?? 0);
  const [asked, setAsked] = useState<Asked>();
  const list = useCall<QueuedBatch[]>(`/api/v1/devices/${encodeURIComponent(deviceType)}/queue`, {
    query: { limit: pageSize, offset },
    again: () => 10,
  });
  const link = (to: number) => linkTo(['operate', 'queue', deviceType], { offset: to === 0 ? undefined : String(to) });
  return (
    <>
      <div class="title">
        <h2>
          {words.title} <bdi>{deviceType}</bdi>
        </h2>
        <a href={linkTo(['operate', 'device', deviceType])}>{words.settings}</a>
      </div>
      <Shown loaded={list}>
        {(batches) =>
          batches.length === 0 ? (
            <Empty>{words.none}</Empty>
          ) : (
            <Table label={words.title} columns={columnsFor(setAsked)} rows={batches} keyOf={({ id }) => id} />
          )
        }
      </Shown>
      <Pager pagination={list.answer?.pagination} limit={pageSize} linkTo={link} />
      {asked !== undefined && <ActQuestion {...asked} close={() => setAsked(undefined)} done={list.reload} />}
    </>
  );
}

function columnsFor(ask: (asked: Asked) => void): readonly Column<QueuedBatch>[] {
  const { columns } = words;
  return [
    [columns.place, ({ position }) => (position === null ? words.held : formatCount(position + 1)), 'number'],
    [columns.batch, ({ id, user_id }) => <Id id={id} link={linkTo(['operate', 'batch', user_id, id])} />],
    [columns.owner, ({ user_id, user_name }: Named<QueuedBatch>) => <Person id={user_id} name={user_name} />],
    [columns.status, ({ status }) => <Status status={status} />],
    [columns.priority, ({ queue_priority }) => queue_priority],
    [columns.jobs, (batch) => <JobsCell counts={batch.jobs_count_per_status} />],
    [columns.created, ({ created_at }) => <Time time={created_at} />],
    [columns.worker, ({ lease }) => <Lease lease={lease} />, 'text'],
    [
      columns.actions,
      (batch) => (
        <span class="actions">
          {(['priority', 'cancel'] as const).map((act) => (
            <button
              key={act}
              type="button"
              class={act === 'cancel' ? 'danger' : undefined}
              disabled={act === 'priority' && batch.lease !== null}
              aria-label={`${words[act]} ${batch.id}`}
              onClick={() => ask({ act, batch })}
            >
              {words[act]}
            </button>
          ))}
        </span>
      ),
    ],
  ];
}

function Lease({ lease }: Pick<QueuedBatch, 'lease'>) {
  if (lease === null) return <>{texts.common.none}</>;
  return (
    <>
      <bdi>{lease.worker ?? words.nameless}</bdi>, {words.until} <Time time={lease.expires_at} />
      {lease.losses > 0 && <span class="fault"> {words.losses(lease.losses)}</span>}
    </>
  );
}

/** Asks for the reason, which the owner reads. */
function ActQuestion({ act, batch, close, done }: Asked & { readonly close: () => void; readonly done: () => void }) {
  const [reason, setReason] = useState('');
  const [queue_priority, setPriority] = useState<string>(batch.queue_priority);
  const send = useAction(async (api: Api) => {
    const of = `/api/v1/users/${encodeURIComponent(batch.user_id)}/batches/${batch.id}`;
    const body = act === 'cancel' ? { reason } : { queue_priority, reason };
    await api.call(`${of}/${act}`, { method: 'PATCH', body });
    done();
    close();
  });
  const faults = send.failure?.faults ?? [];
  return (
    <Question title={words.titles[act]} action={send} isDangerous={act === 'cancel'} close={close}>
      <p class="full">
        <code>{batch.id}</code>
      </p>
      {act === 'priority' && (
        <Field label={words.newPriority} place={['body', 'queue_priority']} faults={faults}>
          <select value={queue_priority} onChange={(event) => setPriority(event.currentTarget.value)}>
            <Options of={texts.priorities} />
          </select>
        </Field>
      )}
      <Field label={texts.common.reason} hint={words.reasonHint} place={['body', 'reason']} faults={faults} wide>
        <textarea
          required
          maxLength={512}
          rows={3}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </Field>
    </Question>
  );
}
