/**
 * How a list is stored for reading: data only, one description for batches, one for jobs. The read
 * engine, the write side and the repair command all work from it.
 *
 * A description is a storage format: a contract with everything that earlier releases have written.
 * A change of a key, a kind, an attribute, a facet (its values and their order included) or a
 * number of rows changes the meaning of stored bytes. It changes the description's fingerprint too
 * (head.ts), and every owner needs a repair. docs/reference/lists.md has the steps.
 *
 * Rows get dense sequence numbers (`seq`: 0, 1, 2, … per owner and list, in creation order). A
 * column holds one value of every row at the row's sequence number, cut into blocks of
 * `rowsPerBlock` rows: one small item of the Columns table each. The values of the newest rows are
 * not in blocks yet but in the head (tail.ts). A query reads whole columns (at most 7 bytes a row,
 * ids 16), finds its rows and their number in memory, and fetches only the page.
 */

interface Blocks {
  /** Short name in the keys of its blocks: no other column or set of the list has it. */
  readonly key: string;
  /**
   * A block is rewritten whole whenever one of its values changes, so it has to fit in one write
   * unit of 1 KB.
   */
  readonly rowsPerBlock: number;
}

/** Whole numbers from 0, or null, also where the row lacks the attribute. */
interface IntegerColumn extends Blocks {
  readonly kind: 'integer';
  readonly attribute: string;
}

/** Canonical timestamps, or null, as microseconds. */
interface TimeColumn extends Blocks {
  readonly kind: 'time';
  readonly attribute: string;
}

interface UuidColumn extends Blocks {
  readonly kind: 'uuid';
  readonly attribute: string;
}

/**
 * Several attributes of few values in one number below 2^53:
 * `first + size1 * (second + size2 * (…))`.
 */
export interface FacetColumn extends Blocks {
  readonly kind: 'facets';
  readonly facets: Readonly<Record<string, Facet>>;
}

export type Facet = KnownValues | Presence | Counted | Dictionary;

/** One of these values, in their sort order. */
interface KnownValues {
  readonly kind: 'values';
  readonly attribute: string;
  readonly values: readonly (string | boolean)[];
}

/** Whether the row has the attribute: anything but null and an empty array. */
interface Presence {
  readonly kind: 'presence';
  readonly attribute: string;
}

/** Whether the attribute, which holds a count for each of its members, counts any of this one. */
interface Counted {
  readonly kind: 'counted';
  readonly attribute: string;
  readonly member: string;
}

/**
 * Texts that are numbered for each owner in order of first use, at most `capacity` (see
 * dictionaries.ts).
 */
interface Dictionary {
  readonly kind: 'dictionary';
  readonly attribute: string;
  readonly capacity: number;
}

/** For each value of an attribute (or each element of it) the set of rows that have it. */
export interface PositionSets extends Blocks {
  readonly attribute: string;
  /**
   * The column that numbers the rows of each set 0, 1, 2, … in creation order. Such sets have few
   * rows, most often close together, and each row is in one.
   */
  readonly numberedBy?: string;
}

export type Column = IntegerColumn | TimeColumn | UuidColumn | FacetColumn;

export interface ListDescription {
  /** First part of every key of the list in the Columns table. */
  readonly key: string;
  readonly table: 'Batches' | 'Jobs';
  /**
   * The largest number of rows in the tail (tail.ts): as many as fit into a write unit with the
   * head.
   */
  readonly rowsInTail: number;
  /** Texts of a dictionary that leave the head together: as many UUIDs as fit into a write unit. */
  readonly textsPerBlock: number;
  /**
   * Rows that one summary counts (summary.ts): a multiple of every column's `rowsPerBlock`, except
   * for ids, so that no block belongs to two segments; a segment of a column has less than 100
   * blocks, so that one transaction can seal it.
   */
  readonly rowsPerSegment: number;
  /** Rows for each entry of the time index (time-index.ts). */
  readonly rowsPerTimeEntry: number;
  readonly columns: Readonly<Record<string, Column>>;
  readonly sets: Readonly<Record<string, PositionSets>>;
  /**
   * Values of attributes that a row may lack because it was written before they existed: the
   * defaults of the row's schema. Rows get them wherever they are read, before anything here is
   * applied to them.
   */
  readonly rowDefaults: Readonly<Record<string, unknown>>;
}

/** Every attribute of a row that decides what is stored in columns and sets. */
export function describedAttributes(list: ListDescription): Set<string> {
  const ofColumns = Object.values(list.columns).flatMap((column) =>
    column.kind === 'facets' ? Object.values(column.facets).map((facet) => facet.attribute) : [column.attribute],
  );
  return new Set([...ofColumns, ...Object.values(list.sets).map((sets) => sets.attribute)]);
}

export function facetColumn({ columns: { facets } }: ListDescription): FacetColumn {
  if (facets?.kind !== 'facets') throw new RangeError('The list has no facets.');
  return facets;
}
