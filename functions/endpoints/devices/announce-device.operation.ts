import type * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { AnnounceRequest, Device, DevicePath } from '../../schemas/device.ts';
import { jsonBody } from '../../schemas/json-body.ts';

export const operation = {
  tag: 'Devices',
  summary: 'Announce a device',
  description:
    'A device says what it is and how it is, in place of what was said before. It takes work while its status is UP. Batches without a device type find it by the name in its specification.',
  path: DevicePath,
  device: ({ path }: { readonly path: z.output<typeof DevicePath> }) => path.device_type,
  body: jsonBody(AnnounceRequest),
  bodySchema: () => AnnounceRequest,
  success: { status: 200, data: () => Device },
} satisfies Operation;
