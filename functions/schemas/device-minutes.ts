/** What the service has measured of a device, minute by minute. */

import * as z from 'zod/mini';
import { one, TimeFilter } from './query-parameters.ts';
import { Count, Timestamp } from './values.ts';

const steps = [60, 300, 900, 3_600] as const;

/** Seconds that a value sums up. */
const MinutesStep = z.literal(steps).register(z.globalRegistry, { id: 'MinutesStep', type: 'integer' });

export const MinutesQuery = z
  .object({
    from: TimeFilter,
    to: TimeFilter,
    step: one(
      z.pipe(
        z.transform((text: string) => (/^\d+$/.test(text) ? Number(text) : text)),
        MinutesStep,
      ),
    ),
  })
  .register(z.globalRegistry, {
    fields: {
      from: 'From this time on; by default 24 hours before `to`. Values are kept for 8 days.',
      to: 'Up to this time; by default now.',
      step: 'Seconds that each value covers; by default 300. An answer has at most 1,500 values.',
    },
  });
export type MinutesQuery = z.output<typeof MinutesQuery>;

const Minutes = z
  .strictObject({
    at: Timestamp,
    queue_length: z.number(),
    longest_queue: Count,
    batches_started: Count,
    waited_seconds: Count,
    busy_seconds: z.number(),
    workers: Count,
  })
  .register(z.globalRegistry, {
    id: 'Minutes',
    fields: {
      at: 'When the step begins: a multiple of `step`.',
      queue_length: 'Batches that wait for the device or are at it: the mean of the minutes that were measured.',
      longest_queue: 'The most that there were in one of these minutes.',
      batches_started: 'Batches that got their first worker.',
      waited_seconds: 'How long these had waited, all together.',
      busy_seconds:
        'How long workers were busy with jobs, all together: the time that usage counts as `device_seconds`.',
      workers: 'The most workers that were there in one of these minutes, busy or idle.',
    },
  });
export type Minutes = z.infer<typeof Minutes>;

export const DeviceMinutes = z
  .strictObject({ device_type: z.string(), step: MinutesStep, minutes: z.array(Minutes) })
  .register(z.globalRegistry, {
    id: 'DeviceMinutes',
    fields: {
      device_type: 'Name by which batches ask for the device.',
      step: 'Seconds that each value covers.',
      minutes: 'In the order of time. Steps in which nothing was measured are missing.',
    },
    examples: [
      {
        device_type: 'FRESNEL',
        step: 300,
        minutes: [
          {
            at: '2026-11-21T02:55:00.000000Z',
            queue_length: 3.4,
            longest_queue: 5,
            batches_started: 2,
            waited_seconds: 184,
            busy_seconds: 271.25,
            workers: 1,
          },
        ],
      },
    ],
  });
export type DeviceMinutes = z.infer<typeof DeviceMinutes>;
