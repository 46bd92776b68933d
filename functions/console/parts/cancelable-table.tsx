import { useState } from 'preact/hooks';
import type { Api } from '../api.ts';
import { formatCount } from '../format.ts';
import { useAction } from '../use-call.ts';
import { Failure } from './basics.tsx';
import { type Column, type Sorting, Table } from './table.tsx';

interface Words {
  readonly choose: string;
  readonly chooseAll: string;
  readonly chosen: string;
  readonly clearChosen: string;
  readonly cancel: string;
}

interface Props<Row> {
  readonly label: string;
  readonly words: Words;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly sorting: Sorting;
  readonly isCancelable?: (row: Row) => boolean;
  /** Cancels those with these ids, and returns why it did not, by their ids. */
  readonly cancel: (api: Api, ids: readonly string[]) => Promise<Readonly<Record<string, string>>>;
  readonly reload: () => void;
}

/** A table whose rows can be chosen, and canceled at once; what failed is listed. */
export function CancelableTable<Row extends { readonly id: string }>(props: Props<Row>) {
  const { label, words, columns, rows, sorting, isCancelable = () => true, reload } = props;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const all = rows.filter(isCancelable).map(({ id }) => id);
  const present = all.filter((id) => chosen.has(id));
  const areAllChosen = all.length > 0 && present.length === all.length;
  const cancel = useAction(async (api: Api) => {
    const refused = await props.cancel(api, present);
    setErrors(refused);
    if (Object.keys(refused).length === 0) setChosen(new Set());
    reload();
  });
  const head = (
    <input
      type="checkbox"
      aria-label={words.chooseAll}
      checked={areAllChosen}
      disabled={all.length === 0}
      onChange={() => setChosen(new Set(areAllChosen ? [] : all))}
    />
  );
  const cell = (row: Row) => (
    <input
      type="checkbox"
      aria-label={`${words.choose} ${row.id}`}
      checked={chosen.has(row.id)}
      disabled={!isCancelable(row)}
      onChange={() => setChosen(new Set([row.id]).symmetricDifference(chosen))}
    />
  );
  return (
    <>
      {present.length > 0 && (
        <section class="chosen" aria-label={words.chosen}>
          <div class="actions">
            <strong>
              {formatCount(present.length)} {words.chosen}
            </strong>
            <button type="button" class="danger" disabled={cancel.isRunning} onClick={() => cancel.run()}>
              {words.cancel}
            </button>
            <button type="button" onClick={() => setChosen(new Set())}>
              {words.clearChosen}
            </button>
          </div>
        </section>
      )}
      <Failure failure={cancel.failure} />
      <Refused errors={errors} />
      <Table
        label={label}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        sorting={sorting}
        choice={{ head, cell }}
      />
    </>
  );
}

/** What a call for many did not do, and why, by their ids. */
function Refused({ errors }: { readonly errors: Readonly<Record<string, string>> }) {
  if (Object.keys(errors).length === 0) return null;
  return (
    <ul class="failure" role="alert">
      {Object.entries(errors).map(([id, error]) => (
        <li key={id}>
          <code>{id}</code> {error}
        </li>
      ))}
    </ul>
  );
}
