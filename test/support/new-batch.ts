import { CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { NewBatch, NewJob } from '../../functions/schemas/new-batch.ts';
import { sequenceText } from './sequence-text.ts';

/**
 * The UUID whose last digits are `number` in a family of its own: `b` for batches, `a` for jobs, …
 */
export function uuid(family: string, number: number): string {
  return `${family.repeat(8)}-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

/** A job as an event brings it, with the schema's defaults. */
export function newJob(number: number, content: Partial<NewJob> = {}): NewJob {
  return NewJob.parse({ id: uuid('a', number), runs: 100, ...content });
}

/** A batch as an event brings it, with the schema's defaults. */
export function newBatch(number: number, content: Partial<NewBatch> = {}): NewBatch {
  return NewBatch.parse({
    id: uuid('b', number),
    project_id: uuid('c', number % 3),
    device_type: number % 2 === 0 ? 'EMU_MPS' : 'FRESNEL',
    queue_priority: 'LOW',
    ...content,
  });
}

/** What a user asks for: a closed batch with a sequence and this many jobs. */
export function newBatchRequest(jobs: number): CreateBatchRequest {
  return CreateBatchRequest.parse({
    project_id: uuid('c', 1),
    device_type: 'FRESNEL',
    sequence_builder: sequenceText(),
    jobs: Array.from({ length: jobs }, () => ({ runs: 100 })),
  });
}
