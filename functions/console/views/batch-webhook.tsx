import { useEffect, useState } from 'preact/hooks';
import type { WebhookDelivery } from '../../schemas/webhook.ts';
import type { Api } from '../client/public-api.ts';
import { useAction, useCall } from '../client/use-call.ts';
import { linkTo } from '../ui/address.ts';
import { Failure, Id, Time } from '../ui/basics.tsx';
import { formatCount } from '../ui/format.ts';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';

const { webhook: words } = texts;

interface Props {
  readonly batchId: string;
  readonly address: string;
  readonly mayTest: boolean;
  /** Of the last attempt: when it changes, the calls are read again. */
  readonly attemptedAt: string | null;
}

/** The last calls of a batch's webhook, and one more on demand. */
export function BatchWebhook({ batchId, address, mayTest, attemptedAt }: Props) {
  const [answer, setAnswer] = useState<WebhookDelivery>();
  const path = `/api/v1/batches/${batchId}/webhook`;
  const calls = useCall<{ refusal: string | null; deliveries: readonly WebhookDelivery[] }>(path);
  const test = useAction(async (api: Api) => {
    setAnswer(undefined);
    const { data } = await api.call<WebhookDelivery>(`${path}/test`, { method: 'POST' });
    setAnswer(data);
    calls.reload();
  });
  useEffect(() => {
    if (calls.answer !== undefined) calls.reload();
  }, [attemptedAt]);
  const { refusal = null, deliveries = [] } = calls.answer?.data ?? {};
  return (
    <>
      <h2>{words.title}</h2>
      <div class="title">
        <bdi>{address}</bdi>
        {mayTest && (
          <button type="button" disabled={test.isRunning} onClick={() => test.run()}>
            {words.test}
          </button>
        )}
      </div>
      <Failure failure={test.failure} />
      <Failure failure={calls.failure} retry={calls.reload} />
      <p role="status">
        {test.isRunning && words.testing}
        {answer !== undefined && (answer.status === null ? words.noAnswer : `${words.answered} ${answer.status}.`)}
        {answer?.reason != null && ` ${answer.reason}`}
      </p>
      {refusal !== null && <p class="notice">{refusal}</p>}
      {deliveries.length > 0 && (
        <Table
          label={words.title}
          columns={columns}
          rows={deliveries}
          keyOf={({ sent_at, type, job_id }) => `${sent_at} ${type} ${job_id}`}
        />
      )}
      {calls.answer !== undefined && deliveries.length === 0 && refusal === null && <p>{words.none}</p>}
    </>
  );
}

const columns: readonly Column<WebhookDelivery>[] = [
  [words.columns.sent, ({ sent_at }) => <Time time={sent_at} />],
  [words.columns.type, ({ type }) => type],
  [
    words.columns.job,
    ({ job_id }) => (job_id === null ? texts.common.none : <Id id={job_id} link={linkTo(['job', job_id])} />),
  ],
  [words.columns.attempt, ({ attempt }) => formatCount(attempt), 'number'],
  [words.columns.status, ({ status }) => status ?? words.noStatus, 'number'],
  [words.columns.duration, ({ duration_ms }) => `${formatCount(duration_ms)} ms`, 'number'],
  [words.columns.reason, ({ reason }) => <bdi>{reason ?? texts.common.none}</bdi>, 'text'],
];
