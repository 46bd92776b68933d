/** The values that several schemas share, in their stored and answered form. */

import * as z from 'zod';

/** Canonical UUID: lower case with hyphens, any variant and version. */
export const Uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  .meta({ format: 'uuid', examples: ['5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a'] });

/** UTC, fixed width, microseconds. */
export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/)
  .meta({ format: 'date-time', examples: ['2026-11-21T02:59:36.123000Z'] });

export const JsonObject = z.record(z.string(), z.unknown());
