import { useEffect, useState } from 'preact/hooks';
import type { WebhookDelivery } from '../../schemas/webhook.ts';
import { linkTo } from '../address.ts';
import type { Api } from '../api.ts';
import { formatCount } from '../format.ts';
import { Failure, Id, Time, Wide } from '../parts/basics.tsx';
import { texts } from '../texts.ts';
import { useAction, useCall } from '../use-call.ts';

const { webhook: words } = texts;

interface Props {
  readonly batchId: string;
  readonly address: string;
  /** Of the last attempt: when it changes, the calls are read again. */
  readonly attemptedAt: string | null;
}

/** The last calls of a batch's webhook, and one more on demand. */
export function BatchWebhook({ batchId, address, attemptedAt }: Props) {
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
        <bdi class="breakable">{address}</bdi>
        <button type="button" disabled={test.isRunning} onClick={() => test.run()}>
          {words.test}
        </button>
      </div>
      <Failure failure={test.failure} />
      <Failure failure={calls.failure} retry={calls.reload} />
      <p role="status">
        {test.isRunning && words.testing}
        {answer !== undefined && (answer.status === null ? words.noAnswer : `${words.answered} ${answer.status}.`)}
        {answer?.reason != null && ` ${answer.reason}`}
      </p>
      {refusal !== null && <p class="notice">{refusal}</p>}
      {deliveries.length > 0 && <Deliveries deliveries={deliveries} />}
      {calls.answer !== undefined && deliveries.length === 0 && refusal === null && <p>{words.none}</p>}
    </>
  );
}

function Deliveries({ deliveries }: { readonly deliveries: readonly WebhookDelivery[] }) {
  return (
    <Wide label={words.title}>
      <table>
        <thead>
          <tr>
            {Object.values(words.columns).map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {deliveries.map(({ type, job_id, attempt, sent_at, duration_ms, status, reason }) => (
            <tr key={sent_at + type + job_id}>
              <td>
                <Time time={sent_at} />
              </td>
              <td>{type}</td>
              <td>{job_id === null ? texts.common.none : <Id id={job_id} link={linkTo(['job', job_id])} />}</td>
              <td class="number">{formatCount(attempt)}</td>
              <td class="number">{status ?? words.noStatus}</td>
              <td class="number">{formatCount(duration_ms)} ms</td>
              <td class="text">
                <bdi>{reason ?? texts.common.none}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
