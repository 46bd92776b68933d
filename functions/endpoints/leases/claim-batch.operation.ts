import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { DevicePath, deviceOfPath } from '../../schemas/device.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { Claim, ClaimRequest } from '../../schemas/lease.ts';

export const operation = {
  tag: 'For devices',
  summary: 'Claim a batch',
  description: [
    'Takes the next batch of the device that no living worker has, with its first unfinished job: both are RUNNING then.',
    'Null, and `Retry-After`, when there is none: 3 s, and up to 60 s while an operator lets the device take none. The batch stays with this worker until it ends; a worker that sends no heartbeat for 60 s',
    'has lost it. Send the first heartbeat at once: it shows that this answer has come. A job whose worker was lost three times',
    'is ERROR; a worker that was never heard of is not counted, unless that happens ten times. A repeated claim takes another batch: what was',
    'claimed in vain is claimed again after 60 s. A claim that finds work for a device that nobody announced announces it, as `UP`.',
  ].join(' '),
  path: DevicePath,
  device: deviceOfPath,
  body: jsonBody(ClaimRequest),
  success: { status: 200, headers: ['Retry-After'], data: () => z.nullable(Claim) },
} satisfies Operation;
