import type * as z from 'zod/mini';
import { CorruptData } from '../../errors.ts';

/** Attributes that rows of earlier releases hold under another name. */
const formerNames: Readonly<Record<string, string>> = { reported: 'unsettled', pending_calls: 'calls_under_way' };

/**
 * The attributes of a stored row that the schema names, checked by it. Rows hold more (sequence
 * numbers, versions) than an answer shows. A row that was written before an attribute existed gets
 * it from `defaults`, and one that has it under a former name keeps its value. Throws CorruptData
 * when the row breaks its schema: that is our fault, never the caller's.
 */
export function storedRow<Shape extends z.core.$ZodShape>(
  schema: z.ZodMiniObject<Shape>,
  row: Readonly<Record<string, unknown>>,
  defaults?: Readonly<Record<string, unknown>>,
): z.output<z.ZodMiniObject<Shape>> {
  const current = withCurrentNames(row);
  const parsed = schema.safeParse(defaults === undefined ? current : { ...defaults, ...current });
  if (!parsed.success) throw new CorruptData(`The row ${String(row.id)} is corrupt: ${parsed.error.message}`);
  return parsed.data;
}

/** The row with today's names of its attributes. */
export function withCurrentNames(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const renamed = Object.entries(formerNames).filter(([name, former]) => former in row && !(name in row));
  if (renamed.length === 0) return row;
  return { ...row, ...Object.fromEntries(renamed.map(([name, former]) => [name, row[former]])) };
}

/** The attributes that storedRow needs of a row: for reads that ask for no others. */
export function attributesOf(schema: { readonly shape: object }): string[] {
  return Object.keys(schema.shape).flatMap((name) => [name, formerNames[name] ?? []].flat());
}
