import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { DevicePath, deviceOfPath } from '../../schemas/device.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { Claim, ClaimRequest } from '../../schemas/lease.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Claim a batch',
  description: [
    'Takes the next batch of the device that no live worker has, with its first unfinished job: both become RUNNING.',
    'If there is none, the answer is null, with `Retry-After`: 3 s, or up to 60 s while an operator keeps the device from taking batches.',
    'The batch stays with this worker until it ends, or until the worker sends no heartbeat for 60 s.',
    'The claim counts as a heartbeat: send the first one of a job after 20 s.',
    'A job becomes ERROR after three lost workers, or after ten leases without a single call.',
    'A repeated claim takes another batch; a batch whose claim got lost can be claimed again after 60 s.',
    'A claim that finds work for an unannounced device announces it, as `UP`.',
  ].join(' '),
  path: DevicePath,
  device: deviceOfPath,
  body: jsonBody(ClaimRequest),
  success: { status: 200, headers: ['Retry-After'], data: () => z.nullable(Claim()) },
} satisfies Operation;
