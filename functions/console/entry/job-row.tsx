import { useId, useMemo } from 'preact/hooks';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { type JobDraft, textOf } from './cell-values.ts';
import type { TableColumn } from './pasted-block.ts';

const { newBatch: words } = texts;

/** A fault of a row: of one column, or of the row where `column` is no name of one. */
export interface RowFault {
  readonly column: string;
  readonly msg: string;
}

interface Props {
  readonly job: JobDraft;
  readonly at: number;
  readonly columns: readonly TableColumn[];
  readonly faults: readonly RowFault[];
  readonly isChosen: boolean;
  readonly isOnly: boolean;
}

/**
 * A job as a row of fields, and its faults: beside them, or below them where the screen is narrow.
 * Its table hears what happens in the fields: they say their place in `data-` attributes. Only a
 * row that has changed is drawn again.
 */
export function JobRow({ job, at, columns, faults, isChosen, isOnly }: Props) {
  const id = useId();
  return useMemo(() => {
    const said = [...new Set(faults.map(({ msg }) => msg))].join(' ');
    const isFaulty = ({ name }: TableColumn) => faults.some(({ column }) => column === name);
    return (
      <>
        <tr aria-current={isChosen ? 'true' : undefined} aria-rowindex={at + 2}>
          <th scope="row" class="number">
            {formatCount(at + 1)}
          </th>
          {columns.map((column, place) => (
            <td key={column.name} class="cell">
              <input
                aria-label={words.ofJob(column.label, at + 1)}
                aria-invalid={isFaulty(column) ? 'true' : undefined}
                aria-describedby={isFaulty(column) ? id : undefined}
                inputMode={column.variable === undefined ? 'numeric' : column.variable.size === 1 ? 'decimal' : 'text'}
                class={column.variable?.type === 'json' ? 'code' : undefined}
                autocomplete="off"
                spellcheck={false}
                value={textOf(job, column.name)}
                data-row={at}
                data-column={place}
              />
            </td>
          ))}
          <td class="said">
            <bdi id={id}>{said}</bdi>
          </td>
          <td class="tight">
            {!isOnly && (
              <button type="button" class="remove" aria-label={words.removeJob(at + 1)} data-remove={at}>
                ×
              </button>
            )}
          </td>
        </tr>
        {said !== '' && (
          <tr class="said-below">
            <td colSpan={columns.length + 3}>
              <bdi>{said}</bdi>
            </td>
          </tr>
        )}
      </>
    );
  }, [job, at, columns, faults, isChosen, isOnly]);
}
