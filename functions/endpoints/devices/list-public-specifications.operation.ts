import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { DeviceSpecification } from '../../schemas/device.ts';

export const operation = {
  tag: 'Devices',
  summary: 'Get the public specifications',
  description:
    'The specifications of all devices that made theirs public, with or without a token. The list may be 10 s old.',
  success: { status: 200, data: () => z.array(DeviceSpecification()) },
} satisfies Operation;
