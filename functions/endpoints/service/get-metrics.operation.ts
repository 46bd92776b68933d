import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Get metrics of all devices',
  description:
    'The queue, the workers and the busy time of each announced device, as text for Prometheus (format 0.0.4). They are measured at the call.',
  operator: true,
  success: {
    status: 200,
    contentType: 'text/plain',
    body: () =>
      z.string().register(z.globalRegistry, {
        examples: [
          '# HELP quantum_batch_device_workers Workers that are there, busy or idle.\n# TYPE quantum_batch_device_workers gauge\nquantum_batch_device_workers{device_type="FRESNEL"} 1\n',
        ],
      }),
  },
} satisfies Operation;
