import type { LocalStack } from '../local-stack.ts';
import { eventMessage } from '../sqs/event-message.ts';
import { type DemoData, type DemoDataSize, demoData } from './demo-data.ts';

/** Messages of one delivery: as many as SQS gives to a function at once. */
const deliverySize = 10;
const deliveryPatience = 60_000;
const progressMilliseconds = 2_000;

/**
 * Puts the results of the demo data into the object store, and sends its events to their function
 * unless an earlier start did. `onProgress` is called with a line for people from time to time.
 */
export async function loadDemoData(
  stack: LocalStack,
  size: DemoDataSize,
  onProgress: (line: string) => void,
): Promise<void> {
  if (size.batches === 0) return;
  const accounts = demoData(size, Date.now());
  const bucket = stack.deployment.functions.map(({ environment }) => environment.RESULTS_BUCKET).find(Boolean);
  for (const { results } of accounts) {
    for (const { key, content } of results) {
      await stack.objects.write(`${bucket}/${key}`, {
        content: Buffer.from(JSON.stringify(content)),
        contentType: 'application/json',
        modified: new Date().toUTCString(),
      });
    }
  }
  if (await isLoaded(stack, accounts[0]!)) return onProgress('The data of an earlier start is there.');
  const total = accounts.reduce((sum, { events }) => sum + events.length, 0);
  let sent = 0;
  let shown = 0;
  // An account's events are sent one after the other, so that batches are created in the order of
  // their times.
  await Promise.all(
    accounts.map(async ({ events }) => {
      for (let at = 0; at < events.length; at += deliverySize) {
        const { accepted, failures } = await stack.events.deliver(
          events.slice(at, at + deliverySize).map(eventMessage),
          deliveryPatience,
        );
        const [failure] = failures;
        if (failure !== undefined) throw new Error(`A demo event was not applied: ${failure.reason}`);
        sent += accepted;
        const done = sent === total;
        if (done || Date.now() - shown > progressMilliseconds) {
          shown = Date.now();
          onProgress(`Loading demo data: ${sent} of ${total} events`);
        }
      }
    }),
  );
}

/** The last event of all says that the youngest batch of the first account is running. */
async function isLoaded(stack: LocalStack, { account, batchIds }: DemoData): Promise<boolean> {
  const token = await stack.issuer.token(account);
  const response = await fetch(`${stack.baseUrl}/api/v1/batches?status=RUNNING&id=${batchIds.at(-1)}`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  if (!response.ok) throw new Error(`The batch list answered ${response.status}: ${await response.text()}`);
  const { pagination } = (await response.json()) as { pagination: { total: number } };
  return pagination.total > 0;
}
