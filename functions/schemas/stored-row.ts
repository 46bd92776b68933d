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

/** The defaults of the schema, by their attributes: for what reads rows without it. */
export function defaultsOf({ shape }: { readonly shape: z.core.$ZodShape }): Readonly<Record<string, unknown>> {
  // Read, not parsed: every function that knows lists asks for them at its start.
  const defaults = Object.entries(shape).flatMap(([name, { _zod }]) => {
    const { def } = _zod as { readonly def: { readonly defaultValue?: unknown } };
    return def.defaultValue === undefined ? [] : [[name, def.defaultValue] as const];
  });
  return Object.fromEntries(defaults);
}

/** The attributes that storedRow needs of a row: for reads that ask for no others. */
export function attributesOf(schema: { readonly shape: object }): string[] {
  return Object.keys(schema.shape);
}
