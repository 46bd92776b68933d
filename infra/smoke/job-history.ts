import { randomUUID } from 'node:crypto';
import type { LifecycleEvent } from './deployment.ts';

/** Events of a new batch with one job, which ends; `resultsKey` says where its results are. */
export function jobHistory(userId: string, resultsKey?: (jobId: string) => string) {
  const [batchId, jobId] = [randomUUID(), randomUUID()];
  const event = (secondsAgo: number, type: string, data: LifecycleEvent['data']): LifecycleEvent => ({
    id: randomUUID(),
    type,
    time: new Date(Date.now() - secondsAgo * 1000).toISOString(),
    user_id: userId,
    data,
  });
  const batch = {
    id: batchId,
    project_id: randomUUID(),
    device_type: 'EMU_FREE',
    queue_priority: 'LOW',
    tags: ['smoke'],
    jobs: [{ id: jobId, runs: 1 }],
  };
  const results = resultsKey && { results_key: resultsKey(jobId) };
  return {
    batchId,
    jobId,
    created: event(30, 'batch.created', batch),
    running: event(20, 'job.updated', { job_id: jobId, status: 'RUNNING' }),
    done: event(10, 'job.updated', { job_id: jobId, status: 'DONE', ...results }),
  };
}
