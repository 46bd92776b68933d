import type { ComponentChildren } from 'preact';
import { Wide } from './basics.tsx';

/**
 * A name, what a row has there, and how it looks: a class, such as `number` for figures at the
 * right, `text` for several lines, and `at-menu` to hide its name from sight. A list that can be
 * sorted by it has a name of its own for it.
 */
export type Column<Row> = readonly [
  name: string,
  cell: (row: Row) => ComponentChildren,
  look?: string | undefined,
  sortedBy?: string | undefined,
];

/** How a list is sorted, and the links that sort it in another way. */
export interface Sorting {
  readonly by: string;
  readonly direction: string;
  readonly linkTo: (by: string, direction: 'ASC' | 'DESC') => string;
}

/** A column before the others, with a sign in each row. */
interface Choice<Row> {
  readonly head: ComponentChildren;
  readonly cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  readonly label: string;
  /** Its class, such as `rows`: the link of a name covers its row. */
  readonly kind?: string;
  /** Its rows are of what was asked before. */
  readonly isOld?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, at: number) => string | number;
  /** The row below all, under its name. */
  readonly total?: readonly [name: string, row: Row];
  readonly sorting?: Sorting;
  readonly choice?: Choice<Row>;
}

export function Table<Row>({ label, kind, isOld, columns, rows, keyOf, total, sorting, choice }: TableProps<Row>) {
  return (
    <Wide label={label} {...{ kind, isOld }}>
      <table>
        <thead>
          <tr>
            {choice !== undefined && <th class="tight">{choice.head}</th>}
            {columns.map(([name, , look, sortedBy]) =>
              sorting === undefined || sortedBy === undefined ? (
                <th key={name} scope="col" class={look}>
                  {look?.includes('at-menu') ? <span class="unseen">{name}</span> : name}
                </th>
              ) : (
                <Sortable key={name} label={name} look={look} name={sortedBy} sorting={sorting} />
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={keyOf(row, at)}>
              {choice !== undefined && <td>{choice.cell(row)}</td>}
              {columns.map(([name, cell, look]) => (
                <td key={name} class={look}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {total !== undefined && (
          <tfoot>
            <tr>
              {columns.map(([name, cell, look], at) => (
                <td key={name} class={look}>
                  {at === 0 ? <strong>{total[0]}</strong> : look?.includes('number') && cell(total[1])}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </Wide>
  );
}

interface SortableProps {
  readonly label: string;
  readonly look: string | undefined;
  readonly name: string;
  readonly sorting: Sorting;
}

/** A column's head that sorts by it: the other way around when it does so already. */
function Sortable({ label, look, name, sorting: { by, direction, linkTo } }: SortableProps) {
  const isSorted = by === name;
  const isDescending = direction === 'DESC';
  return (
    <th scope="col" class={look} aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : undefined}>
      <a href={linkTo(name, isSorted && isDescending ? 'ASC' : 'DESC')}>
        {label}
        {isSorted && <span aria-hidden="true">{isDescending ? ' ↓' : ' ↑'}</span>}
      </a>
    </th>
  );
}
