import { eventMessage } from '../../commands/event-message.ts';
import type { DataFolder, DemoDataSize } from '../folder/data-folder.ts';
import type { ObjectFiles } from '../s3/object-files.ts';
import type { EventIntake } from '../sqs/event-intake.ts';
import type { Deployment } from '../template/deployment.ts';
import { type DemoData, demoData } from './demo-data.ts';

/** What demo data is loaded into: these parts of a local stack. */
interface DemoStack {
  readonly deployment: Deployment;
  readonly objects: ObjectFiles;
  readonly events: EventIntake;
}

/** Messages of one delivery: as many as SQS gives to a function at once. */
const deliverySize = 10;
const deliveryPatience = 60_000;
const progressMilliseconds = 2_000;

/**
 * An interrupted load repeats as many events of each account. DynamoDB Local may have lost the
 * last ones when it was killed, and others may have been applied after the last note of progress.
 */
const repeatedEvents = 50;

/**
 * Puts the results of the demo data into the object store, and sends its events to their function.
 * A folder is given demo data once: an interrupted load goes on, with the same data on any later
 * day, and after a complete one nothing is sent. `onProgress` is called with a line for people from
 * time to time.
 */
export async function loadDemoData(
  stack: DemoStack,
  folder: DataFolder,
  { size, onProgress }: { readonly size: DemoDataSize; readonly onProgress: (line: string) => void },
): Promise<void> {
  const { batches, jobsPerBatch } = size;
  const demo = folder.demo ?? { batches, jobsPerBatch, now: Date.now(), sent: [] };
  if (folder.demo !== undefined) {
    const isSame = demo.batches === batches && demo.jobsPerBatch === jobsPerBatch;
    const options = `--batches ${demo.batches} --jobs-per-batch ${demo.jobsPerBatch}`;
    const remark = isSame ? '' : ` It was made with ${options}, and other numbers need another folder.`;
    const state = demo.sent === undefined ? 'is there' : 'was loaded in part';
    onProgress(`The data of an earlier start ${state}.${remark}`);
  }
  if (demo.sent === undefined) return;
  const isRepetition = folder.demo !== undefined;
  folder.keepDemo(demo);
  const accounts = demoData(demo, demo.now);
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
  const total = accounts.reduce((sum, { events }) => sum + events.length, 0);
  const before = accounts.map((_, at) => demo.sent?.[at] ?? 0);
  const sent = before.map((count) => Math.max(0, count - repeatedEvents));
  let shown = 0;
  const showProgress = () => {
    const done = sent.reduce((sum, count) => sum + count, 0);
    if (done < total && Date.now() - shown <= progressMilliseconds) return;
    shown = Date.now();
    onProgress(`Loading demo data: ${done} of ${total} events`);
  };
  // An account's events are sent one after the other, so that batches are created in the order of
  // their times.
  await Promise.all(
    accounts.map(async ({ events }, account) => {
      for (let at = sent[account] as number; at < events.length; at += deliverySize) {
        const mayBeRepeated = isRepetition && at < (before[account] as number) + deliverySize;
        await deliver(stack, events.slice(at, at + deliverySize), mayBeRepeated);
        sent[account] = Math.min(at + deliverySize, events.length);
        folder.keepDemo({ ...demo, sent: sent.map((count, each) => Math.max(count, before[each] as number)) });
        showProgress();
      }
    }),
  );
  const { sent: _, ...loaded } = demo;
  folder.keepDemo(loaded);
}

/** A repeated event may be refused: it was applied long ago, or a user changed its batch since. */
async function deliver(stack: DemoStack, events: DemoData['events'], isRepeated: boolean): Promise<void> {
  const { failures } = await stack.events.deliver(events.map(eventMessage), deliveryPatience);
  const [failure] = failures;
  if (failure !== undefined && !isRepeated) throw new Error(`A demo event was not applied: ${failure.reason}`);
}
