import { expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { batchList, jobList } from '../../../../functions/data/columns/lists.ts';
import { BatchRow } from '../../../../functions/schemas/batch.ts';
import { JobRow } from '../../../../functions/schemas/job.ts';

/** The defaults of the schema, by their attributes. */
function defaultsOf({ shape }: { readonly shape: z.core.$ZodShape }): Readonly<Record<string, unknown>> {
  const defaults = Object.entries(shape).flatMap(([name, { _zod }]) => {
    const { def } = _zod as { readonly def: { readonly defaultValue?: unknown } };
    return def.defaultValue === undefined ? [] : [[name, def.defaultValue] as const];
  });
  return Object.fromEntries(defaults);
}

it.each([
  { list: batchList, row: BatchRow() },
  { list: jobList, row: JobRow() },
])('the list of $list.table gives rows the defaults of their schema', ({ list, row }) => {
  expect(list.rowDefaults).toEqual(defaultsOf(row));
});
