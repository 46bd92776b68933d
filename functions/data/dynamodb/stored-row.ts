import type * as z from 'zod/mini';
import { CorruptData } from '../../errors.ts';

/**
 * The attributes of a stored row that the schema names, checked by it. Rows hold more (sequence
 * numbers, versions) than an answer shows. A row that was written before an attribute existed gets
 * it from `defaults`. Throws CorruptData when the row breaks its schema: that is our fault, never
 * the caller's.
 */
export function storedRow<Shape extends z.core.$ZodShape>(
  schema: z.ZodMiniObject<Shape>,
  row: Readonly<Record<string, unknown>>,
  defaults?: Readonly<Record<string, unknown>>,
): z.output<z.ZodMiniObject<Shape>> {
  const parsed = schema.safeParse(defaults === undefined ? row : { ...defaults, ...row });
  if (!parsed.success) throw new CorruptData(`The row ${String(row.id)} is corrupt: ${parsed.error.message}`);
  return parsed.data;
}
