/**
 * Ids and times as callers spell them, in paths, parameters and bodies. Most functions read no
 * other texts. Faults carry pydantic's type as `params.type`.
 */

import * as z from 'zod/mini';
import { parseTimestamp } from '../values/timestamp.ts';
import { parseUuid, uuidPattern } from '../values/uuid.ts';
import { reportFault } from './faults.ts';

/** A UUID in any of its spellings; the value is canonical. */
export const UuidText = z.pipe(
  z.string().register(z.globalRegistry, { pattern: uuidPattern, examples: ['5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a'] }),
  z.transform(
    (text, context) =>
      parseUuid(text) ?? reportFault(context, { type: 'uuid_parsing', message: 'Input should be a valid UUID' }),
  ),
);

/** An ISO 8601 time; the value is canonical. */
export const TimestampText = z.pipe(
  z.string().register(z.globalRegistry, { format: 'date-time', examples: ['2026-11-21T02:59:36Z'] }),
  z.transform(
    (text, context) =>
      parseTimestamp(text) ??
      reportFault(context, { type: 'datetime_parsing', message: 'Input should be a valid datetime' }),
  ),
);

/** What the OpenAPI document says of ids in parameters. */
export const idSpelling = 'A UUID in upper or lower case, with or without hyphens, in braces or after `urn:uuid:`.';
