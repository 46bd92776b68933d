/** Cells that were copied from a spreadsheet, and where they go in the table of jobs. */

import type { JobDraft } from './cell-values.ts';
import type { Variable } from './program.ts';

/** A column of the table: a variable, or the shots (`shotsColumn`). */
export interface TableColumn {
  readonly name: string;
  readonly label: string;
  readonly variable: Variable | undefined;
}

export interface Block {
  readonly cells: readonly (readonly string[])[];
  /** Whether a comma within a cell can be the point of a decimal fraction. */
  readonly hasDecimalCommas: boolean;
}

/**
 * Reads rows of cells. Tabs separate them; without any, semicolons; without any, commas. A cell in
 * double quotes may hold separators and lines. Rows without a text are left out.
 */
export function readBlock(text: string): Block {
  const separator = ['\t', ';'].find((each) => text.includes(each)) ?? ',';
  const cells = splitCells(text.replace(/\r\n?/g, '\n'), separator).filter((row) => row.some((cell) => cell !== ''));
  return { cells, hasDecimalCommas: separator !== ',' };
}

function splitCells(text: string, separator: string): string[][] {
  const rows: string[][] = [[]];
  // A cell in quotes, or all up to a separator; and what ends it.
  const cell = new RegExp(`(?:[ ]*"((?:[^"]|"")*)"[ ]*|([^${separator}\\n]*))(${separator}|\\n|$)`, 'y');
  for (let match = cell.exec(text); match !== null; match = cell.exec(text)) {
    const [, quoted, plain = '', end] = match;
    rows.at(-1)!.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"').trim());
    if (end === '\n') rows.push([]);
    else if (end === '') break;
  }
  return rows;
}

/** Where the columns of a block go: a column of the table for each, or none. */
interface Headed {
  readonly columns: readonly (TableColumn | undefined)[];
  readonly rows: Block['cells'];
  /** Names in its first row that the table does not have. */
  readonly unknown: readonly string[];
}

/**
 * Gives the columns of a block their places: by their names where its first row has one of the
 * table's, otherwise one after another, from `first` on.
 */
export function headBlock({ cells }: Block, columns: readonly TableColumn[], first = 0): Headed {
  const [head = [], ...rows] = cells;
  const named = head.map((cell) => columns.find((column) => isNameOf(cell, column)));
  if (named.some((column) => column !== undefined)) {
    return { columns: named, rows, unknown: head.filter((cell, at) => cell !== '' && named[at] === undefined) };
  }
  return { columns: columns.slice(first), rows: cells, unknown: [] };
}

function isNameOf(cell: string, { name, label, variable }: TableColumn): boolean {
  return cell === name || cell === label || (variable === undefined && /^(shots|runs)$/i.test(cell));
}

/**
 * The table with a block over its rows from `from` on. Rows that it lacks are added: what the block
 * does not say is as in the row before. At most `max` rows.
 */
export function withBlock(
  rows: readonly JobDraft[],
  block: Block,
  { columns, rows: cells }: Headed,
  from: number,
  max: number,
): readonly JobDraft[] {
  const result = [...rows];
  let id = Math.max(0, ...rows.map((row) => row.id));
  for (const [offset, given] of cells.slice(0, Math.max(0, max - from)).entries()) {
    const at = from + offset;
    const before = result[at] ?? { ...(result[at - 1] ?? rows[0]!), id: ++id };
    result[at] = columns.reduce<JobDraft>((row, column, place) => {
      const text = given[place];
      return column === undefined || text === undefined ? row : withCell(row, column, pointed(text, column, block));
    }, before);
  }
  return result;
}

/** A row with another text in a column. */
export function withCell(row: JobDraft, { name, variable }: TableColumn, text: string): JobDraft {
  return variable === undefined ? { ...row, runs: text } : { ...row, values: { ...row.values, [name]: text } };
}

function pointed(text: string, { variable }: TableColumn, { hasDecimalCommas }: Block): string {
  const isNumber = variable === undefined || (variable.size === 1 && variable.type !== 'json');
  return hasDecimalCommas && isNumber && /^[-+]?\d*,\d+(e[-+]?\d+)?$/i.test(text) ? text.replace(',', '.') : text;
}
