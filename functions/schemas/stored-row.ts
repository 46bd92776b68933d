import type * as z from 'zod/mini';
import { CorruptData } from '../errors.ts';

/**
 * The attributes of a stored row that the schema names, checked by it. Rows hold more (sequence
 * numbers, versions) than an answer shows. A row that was written before an attribute existed gets
 * the default that the schema gives this attribute (`z._default`). Throws CorruptData when the row
 * breaks its schema: that is our fault, never the caller's.
 */
export function storedRow<Shape extends z.core.$ZodShape>(
  schema: z.ZodMiniObject<Shape>,
  row: Readonly<Record<string, unknown>>,
): z.output<z.ZodMiniObject<Shape>> {
  const parsed = schema.safeParse(row);
  if (!parsed.success) throw new CorruptData(`The row ${String(row.id)} is corrupt: ${parsed.error.message}`);
  return parsed.data;
}
/** The attributes that storedRow needs of a row: for reads that ask for no others. */
export function attributesOf(schema: { readonly shape: object }): string[] {
  return Object.keys(schema.shape);
}
