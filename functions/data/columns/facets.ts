/**
 * Facet codes: the number that a row's facet column holds, and what is read from it.
 *
 * Part of the stored format: codes that are written today must be read by every later release.
 */

import { CorruptData, LimitExceeded } from '../../errors.ts';
import type { Column, Facet, FacetColumn } from './list-description.ts';

/**
 * Texts of each dictionary facet, by the facet's attribute, in order of first use. A text keeps its
 * index forever.
 */
export type Dictionaries = Readonly<Record<string, readonly string[]>>;

type Row = Readonly<Record<string, unknown>>;

/**
 * The row's number in the column. Every text must be in its dictionary already (see withTextsOf).
 * Throws CorruptData for a value that the facet does not know.
 */
export function facetCode(column: FacetColumn, row: Row, dictionaries: Dictionaries): number {
  let code = 0;
  let scale = 1;
  for (const facet of Object.values(column.facets)) {
    code += scale * facetIndex(facet, row, dictionaries);
    scale *= facetSize(facet);
  }
  return code;
}

function facetIndex(facet: Facet, row: Row, dictionaries: Dictionaries): number {
  const value = row[facet.attribute];
  if (facet.kind === 'presence') return isPresent(value) ? 1 : 0;
  if (facet.kind === 'counted') return countOf(facet, value) > 0 ? 1 : 0;
  const values: readonly unknown[] = facet.kind === 'values' ? facet.values : (dictionaries[facet.attribute] ?? []);
  const index = values.indexOf(value);
  if (index < 0 || index >= facetSize(facet))
    throw new CorruptData(`A row has no valid ${facet.attribute}: ${String(value)}.`);
  return index;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

function countOf({ attribute, member }: Facet & { kind: 'counted' }, counts: unknown): number {
  const count = (counts as Readonly<Record<string, unknown>> | null | undefined)?.[member];
  if (typeof count === 'number') return count;
  throw new CorruptData(`A row has no valid ${attribute}: it counts no ${member}.`);
}

/** The index of one facet's value within a column's number. */
export function indexOfFacet(column: FacetColumn, name: string): (code: number) => number {
  let scale = 1;
  for (const [key, facet] of Object.entries(column.facets)) {
    const divisor = scale;
    const size = facetSize(facet);
    if (key === name) return (code) => Math.floor(code / divisor) % size;
    scale *= size;
  }
  throw new RangeError(`No facet ${name}.`);
}

/** How many different values the facet may have. */
export function facetSize(facet: Facet): number {
  return facet.kind === 'values' ? facet.values.length : facet.kind === 'dictionary' ? facet.capacity : 2;
}

/**
 * The dictionaries, with those texts added that the row brings. Throws LimitExceeded when an owner
 * uses more different texts than the facet's capacity.
 */
export function withTextsOf(columns: Iterable<Column>, row: Row, dictionaries: Dictionaries): Dictionaries {
  let learned = dictionaries;
  const facets = [...columns].flatMap((column) => (column.kind === 'facets' ? Object.values(column.facets) : []));
  for (const facet of facets) {
    if (facet.kind !== 'dictionary') continue;
    const text = row[facet.attribute];
    const texts = learned[facet.attribute] ?? [];
    if (typeof text !== 'string' || texts.includes(text)) continue;
    if (texts.length >= facet.capacity) {
      throw new LimitExceeded(`More than ${facet.capacity} different values of ${facet.attribute} for one user.`);
    }
    learned = { ...learned, [facet.attribute]: [...texts, text] };
  }
  return learned;
}
