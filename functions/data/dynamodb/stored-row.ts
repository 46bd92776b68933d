import type * as z from 'zod/mini';
import { CorruptData } from '../../errors.ts';

/**
 * The attributes of a stored row that the schema names, checked by it. Rows hold more (sequence numbers, versions) than is
 * answered. A row that breaks its schema is CorruptData: our fault, never the caller's.
 */
export function storedRow<Shape extends z.core.$ZodShape>(
  schema: z.ZodMiniObject<Shape>,
  row: Readonly<Record<string, unknown>>,
): z.output<z.ZodMiniObject<Shape>> {
  const parsed = schema.safeParse(row);
  if (!parsed.success) throw new CorruptData(`The row ${String(row.id)} is corrupt: ${parsed.error.message}`);
  return parsed.data;
}
