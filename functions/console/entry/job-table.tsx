import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import type { JobDraft } from './cell-values.ts';
import { JobRow, type RowFault } from './job-row.tsx';
import { headBlock, readBlock, type TableColumn, withBlock, withCell } from './pasted-block.ts';
import { pieceRows, stretchesOf } from './shown-rows.ts';
import { maxJobs } from './sweep.ts';

const { newBatch: words } = texts;

/** A place in the table that is to have the focus; a new object each time. */
export interface CellPlace {
  readonly row: number;
  readonly column: number;
}

interface Props {
  readonly columns: readonly TableColumn[];
  /** Units by the names of the columns. */
  readonly units: ReadonlyMap<string, string>;
  readonly jobs: readonly JobDraft[];
  readonly faults: ReadonlyMap<number, readonly RowFault[]>;
  /** Place of the job that is drawn. */
  readonly chosen: number;
  readonly choose: (row: number) => void;
  readonly wanted: CellPlace | undefined;
  readonly want: (place: CellPlace) => void;
  readonly change: (jobs: readonly JobDraft[]) => void;
}

const noFaults: readonly RowFault[] = [];

/** Jobs as a table of fields. Keys move as in a spreadsheet. Of many rows some are folded. */
export function JobTable(props: Props) {
  const { columns, units, jobs, faults, chosen, choose, wanted } = props;
  const table = useRef<HTMLTableElement>(null);
  const [opened, setOpened] = useState<readonly { first: number; end: number }[]>([]);
  const stretches = useMemo(() => {
    // The row with the focus stays, also once its fault is mended.
    const held = [chosen, wanted?.row ?? chosen].map((row) => ({ first: row, end: row + 1 }));
    return stretchesOf(
      jobs.length,
      [...opened, ...held],
      [...faults.keys()].sort((a, b) => a - b),
    );
  }, [jobs.length, opened, faults, wanted, chosen]);
  useLayoutEffect(() => {
    if (wanted === undefined) return;
    const field = table.current?.querySelector<HTMLInputElement>(
      `[data-row="${wanted.row}"][data-column="${wanted.column}"]`,
    );
    field?.focus();
    field?.select();
  }, [wanted]);
  const open = (first: number, end: number) =>
    setOpened((before) => [...before, { first, end: Math.min(end, first + pieceRows) }]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="jobs-table" aria-label={words.table} tabIndex={0}>
      <table
        ref={table}
        aria-rowcount={jobs.length + 1}
        {...listeners(props)}
        onFocusIn={({ target }) => {
          const row = placeOf(target)?.row;
          if (row !== undefined) choose(row);
        }}
      >
        <thead>
          <tr>
            <th scope="col" class="number">
              {words.job}
            </th>
            {columns.map(({ name, label }) => (
              <th key={name} scope="col" class="number">
                <bdi title={label}>{label}</bdi> {units.has(name) && <span class="unit">{units.get(name)}</span>}
              </th>
            ))}
            <th scope="col" class="said">
              <span class="unseen">{words.faults}</span>
            </th>
            <th scope="col">
              <span class="unseen">{words.removal}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {stretches.flatMap(({ first, end, isHidden }) =>
            isHidden ? (
              <tr key={`fold ${first}`} class="fold">
                <td colSpan={columns.length + 3}>
                  <button type="button" onClick={() => open(first, end)}>
                    {words.fold(formatCount(first + 1), formatCount(end))}
                  </button>
                </td>
              </tr>
            ) : (
              jobs
                .slice(first, end)
                .map((job, place) => (
                  <JobRow
                    key={job.id}
                    job={job}
                    at={first + place}
                    columns={columns}
                    faults={faults.get(first + place) ?? noFaults}
                    isChosen={first + place === chosen}
                    isOnly={jobs.length === 1}
                  />
                ))
            ),
          )}
        </tbody>
      </table>
    </section>
  );
}

function placeOf(target: EventTarget | null): CellPlace | undefined {
  if (!(target instanceof HTMLInputElement)) return undefined;
  const { row, column } = target.dataset;
  return row === undefined ? undefined : { row: Number(row), column: Number(column) };
}

/** What the table does when its fields are typed into, pasted into, or left with a key. */
function listeners({ columns, jobs, change, want }: Props) {
  return {
    onInput: ({ target }: { readonly target: EventTarget | null }) => {
      const place = placeOf(target);
      if (place === undefined) return;
      const { row, column } = place;
      change(jobs.with(row, withCell(jobs[row]!, columns[column]!, (target as HTMLInputElement).value)));
    },
    onPaste: (event: ClipboardEvent) => {
      const place = placeOf(event.target);
      const text = event.clipboardData?.getData('text/plain').replace(/\r?\n$/, '') ?? '';
      if (place === undefined || columns[place.column]?.variable?.type === 'json' || !isBlock(text)) return;
      event.preventDefault();
      const block = readBlock(text);
      const headed = headBlock(block, columns, place.column);
      change(withBlock(jobs, block, headed, place.row, maxJobs));
    },
    onKeyDown: (event: KeyboardEvent) => {
      const place = placeOf(event.target);
      const step = place === undefined ? undefined : stepOf(event, event.target as HTMLInputElement);
      if (place === undefined || step === undefined) return;
      const [row, column] = [place.row + step[0], place.column + step[1]];
      event.preventDefault();
      if (jobs[row] !== undefined && columns[column] !== undefined) want({ row, column });
    },
    onClick: ({ target }: { readonly target: EventTarget | null }) => {
      const remove = target instanceof HTMLButtonElement ? target.dataset.remove : undefined;
      if (remove === undefined) return;
      const row = Number(remove);
      change(jobs.toSpliced(row, 1));
      // The button that had the focus goes.
      want({ row: Math.min(row, jobs.length - 2), column: 0 });
    },
  };
}

/** Whether a text is more than the value of one cell. */
function isBlock(text: string): boolean {
  return /[\t\n]/.test(text) || (text.includes(';') && !text.includes('['));
}

/** Rows and columns to go; undefined where the key is for the text in the field. */
function stepOf(event: KeyboardEvent, field: HTMLInputElement): readonly [rows: number, columns: number] | undefined {
  const { key, shiftKey, isComposing } = event;
  if (isComposing || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (key === 'Enter') return [shiftKey ? -1 : 1, 0];
  if (shiftKey) return undefined;
  if (key === 'ArrowDown') return [1, 0];
  if (key === 'ArrowUp') return [-1, 0];
  const { selectionStart, selectionEnd, value } = field;
  const isWhole = selectionStart === 0 && selectionEnd === value.length;
  if (key === 'ArrowLeft' && (isWhole || selectionEnd === 0)) return [0, -1];
  if (key === 'ArrowRight' && (isWhole || selectionStart === value.length)) return [0, 1];
  return undefined;
}
