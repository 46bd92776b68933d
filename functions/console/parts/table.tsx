import type { ComponentChildren } from 'preact';
import { Wide } from './basics.tsx';

/** A name, what a row has there, and how it looks: figures at the right, texts on several lines. */
export type Column<Row> = readonly [
  name: string,
  cell: (row: Row) => ComponentChildren,
  look?: 'number' | 'text' | undefined,
];

export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  total,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, at: number) => string | number;
  /** The row below all, under its name. */
  readonly total?: readonly [name: string, row: Row];
}) {
  return (
    <Wide label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(([name, , look]) => (
              <th key={name} scope="col" class={look}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={keyOf(row, at)}>
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
                  {at === 0 ? <strong>{total[0]}</strong> : look === 'number' && cell(total[1])}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </Wide>
  );
}
