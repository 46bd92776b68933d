import { useState } from 'preact/hooks';
import type { QueuedBatch } from '../../schemas/queued-batch.ts';
import { linkTo, useAddress } from '../address.ts';
import type { Api } from '../api.ts';
import { formatCount } from '../format.ts';
import { Dialog, Empty, Failure, Id, Shown, Status, Time, Wide } from '../parts/basics.tsx';
import { Field } from '../parts/field.tsx';
import { Pager } from '../parts/pager.tsx';
import { texts } from '../texts.ts';
import { useAction, useCall } from '../use-call.ts';
import { Progress } from './batches.tsx';

const { queue: words } = texts.operate;

const pageSize = 50;

type Act = 'cancel' | 'priority';

/** What waits for a device and what its workers have, in the order in which it is claimed. */
export function QueuePart({ deviceType }: { readonly deviceType: string }) {
  const offset = Number(useAddress().query.get('offset') ?? 0);
  const [asked, setAsked] = useState<{ readonly act: Act; readonly batch: QueuedBatch }>();
  const list = useCall<QueuedBatch[]>(`/api/v1/devices/${encodeURIComponent(deviceType)}/queue`, {
    query: { limit: pageSize, offset },
    again: () => 10,
  });
  const path = ['operate', 'queue', deviceType];
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
            <QueueTable batches={batches} ask={(act, batch) => setAsked({ act, batch })} />
          )
        }
      </Shown>
      {list.answer?.pagination !== undefined && (
        <Pager
          pagination={list.answer.pagination}
          limit={pageSize}
          linkTo={(to) => linkTo(path, { offset: to === 0 ? undefined : String(to) })}
        />
      )}
      {asked !== undefined && <ActDialog {...asked} close={() => setAsked(undefined)} done={list.reload} />}
    </>
  );
}

function QueueTable({
  batches,
  ask,
}: {
  readonly batches: readonly QueuedBatch[];
  readonly ask: (act: Act, batch: QueuedBatch) => void;
}) {
  return (
    <Wide label={words.title}>
      <table>
        <thead>
          <tr>
            {words.columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {batches.map((batch) => (
            <tr key={batch.id}>
              <td class="number">{batch.position === null ? words.held : formatCount(batch.position + 1)}</td>
              <td>
                <Id id={batch.id} />
              </td>
              <td>
                <Id id={batch.user_id} />
              </td>
              <td>
                <Status status={batch.status} />
              </td>
              <td>{batch.queue_priority}</td>
              <td class="number">
                <Progress batch={batch} />
              </td>
              <td>
                <Time time={batch.created_at} />
              </td>
              <td>
                <Lease lease={batch.lease} />
              </td>
              <td>
                <span class="actions">
                  <button
                    type="button"
                    disabled={batch.lease !== null}
                    aria-label={`${words.priority} ${batch.id}`}
                    onClick={() => ask('priority', batch)}
                  >
                    {words.priority}
                  </button>
                  <button
                    type="button"
                    class="danger"
                    aria-label={`${words.cancel} ${batch.id}`}
                    onClick={() => ask('cancel', batch)}
                  >
                    {words.cancel}
                  </button>
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
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
function ActDialog({
  act,
  batch,
  close,
  done,
}: {
  readonly act: Act;
  readonly batch: QueuedBatch;
  readonly close: () => void;
  readonly done: () => void;
}) {
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
    <Dialog title={words.titles[act]} close={close}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          send.run();
        }}
      >
        <p class="full">
          <code>{batch.id}</code>
        </p>
        {act === 'priority' && (
          <Field label={words.newPriority} place={['body', 'queue_priority']} faults={faults}>
            <select value={queue_priority} onChange={(event) => setPriority(event.currentTarget.value)}>
              {['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'FREE'].map((each) => (
                <option key={each}>{each}</option>
              ))}
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
        <div class="full">
          <Failure failure={send.failure} />
        </div>
        <div class="actions">
          <button type="submit" class={act === 'cancel' ? 'danger' : 'main'} disabled={send.isRunning}>
            {words.titles[act]}
          </button>
          <button type="button" onClick={close}>
            {texts.common.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
