import { useState } from 'preact/hooks';
import { type Api, CallFailed } from '../client/public-api.ts';
import { useAction } from '../client/use-call.ts';
import { Answers, Dialog, Failure } from './basics.tsx';
import { formatCount } from './format.ts';
import { type Column, type Sorting, Table } from './table.tsx';

interface Words {
  readonly choose: string;
  readonly chooseAll: string;
  readonly chosen: string;
  readonly clearChosen: string;
}

/** Why an act failed, by the ids of the rows that it failed for. */
type Refusals = Readonly<Record<string, string>>;

/** What an act is given besides the rows. */
interface Given {
  readonly lines: readonly string[];
  /**
   * Names this attempt, for idempotency keys. It is the same when people try again because an
   * answer never came.
   */
  readonly attempt: string;
}

/** What can be done to many at once. */
export interface Act<Row = unknown> {
  readonly label: string;
  /** Whether it can be done to a row: it is offered where one chosen row fits. */
  readonly fits?: (row: Row) => boolean;
  readonly isDanger?: boolean;
  /** What is asked before. */
  readonly question?: string;
  /** Names a text that it needs, of lines. */
  readonly lines?: string;
  readonly run: (api: Api, ids: readonly string[], given: Given) => Promise<Refusals>;
}

/** Calls for each, one after the other. Throws CallFailed where no other could succeed either. */
export async function callForEach(ids: readonly string[], call: (id: string) => Promise<unknown>): Promise<Refusals> {
  const refused: Record<string, string> = {};
  for (const id of ids) {
    try {
      await call(id);
    } catch (error) {
      if (!(error instanceof CallFailed) || error.status === 0 || error.status === 401) throw error;
      refused[id] = error.message;
    }
  }
  return refused;
}

interface Props<Row> {
  readonly label: string;
  readonly words: Words;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly sorting: Sorting;
  readonly acts: readonly Act<Row>[];
  readonly kind?: string;
  readonly isOld?: boolean;
  /** A row by its name, for readers of the screen. */
  readonly nameOf?: (row: Row) => string;
  readonly reload: () => void;
}

function newChoice(ids: Iterable<string> = []): { readonly chosen: ReadonlySet<string>; readonly attempt: string } {
  return { chosen: new Set(ids), attempt: crypto.randomUUID() };
}

/** A table whose rows can be chosen, if there are acts on all of them; what failed is listed. */
export function ChoiceTable<Row extends { readonly id: string }>(props: Props<Row>) {
  const { label, words, columns, rows, sorting, acts, reload, kind, isOld, nameOf = ({ id }) => id } = props;
  const [{ chosen, attempt }, setChoice] = useState(newChoice);
  const [errors, setErrors] = useState<Refusals>({});
  const [asked, setAsked] = useState<Act<Row>>();
  const choose = (ids: Iterable<string>) => setChoice(newChoice(ids));
  const all = rows.map(({ id }) => id);
  const present = all.filter((id) => chosen.has(id));
  const areAllChosen = all.length > 0 && present.length === all.length;
  const doing = useAction(async (api: Api, act: Act<Row>, lines: readonly string[]) => {
    setAsked(undefined);
    const refused = await act.run(api, present, { lines, attempt });
    setErrors(refused);
    choose(Object.keys(refused).length === 0 ? [] : chosen);
    reload();
  });
  const head = (
    <input
      type="checkbox"
      aria-label={words.chooseAll}
      checked={areAllChosen}
      disabled={all.length === 0}
      onChange={() => choose(areAllChosen ? [] : all)}
    />
  );
  const cell = (row: Row) => (
    <input
      type="checkbox"
      aria-label={`${words.choose} ${nameOf(row)}`}
      checked={chosen.has(row.id)}
      onChange={() => choose(new Set([row.id]).symmetricDifference(chosen))}
    />
  );
  return (
    <>
      {present.length > 0 && (
        <Chosen
          count={present.length}
          words={words}
          acts={acts.filter(({ fits }) => rows.some((row) => chosen.has(row.id) && (fits?.(row) ?? true)))}
          isRunning={doing.isRunning}
          begin={(act) => (act.question === undefined ? doing.run(act, []) : setAsked(act))}
          clear={() => choose([])}
        />
      )}
      {asked !== undefined && <Question act={asked} close={() => setAsked(undefined)} run={doing.run} />}
      <Failure failure={doing.failure} />
      <Refused errors={errors} />
      <Table
        label={label}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        sorting={sorting}
        {...(kind !== undefined && { kind })}
        {...(isOld !== undefined && { isOld })}
        {...(acts.length > 0 && { choice: { head, cell } })}
      />
    </>
  );
}

interface ChosenProps<Row> {
  readonly count: number;
  readonly words: Words;
  readonly acts: readonly Act<Row>[];
  readonly isRunning: boolean;
  readonly begin: (act: Act<Row>) => void;
  readonly clear: () => void;
}

/** How many rows are chosen, and what can be done to them. */
function Chosen<Row>({ count, words, acts, isRunning, begin, clear }: ChosenProps<Row>) {
  return (
    <section class="chosen" aria-label={words.chosen}>
      <div class="actions">
        <strong>
          {formatCount(count)} {words.chosen}
        </strong>
        {acts.map((act) => (
          <button
            key={act.label}
            type="button"
            class={act.isDanger ? 'danger' : undefined}
            disabled={isRunning}
            onClick={() => begin(act)}
          >
            {act.label}
          </button>
        ))}
        <button type="button" onClick={clear}>
          {words.clearChosen}
        </button>
      </div>
    </section>
  );
}

interface QuestionProps<Row> {
  readonly act: Act<Row>;
  readonly close: () => void;
  readonly run: (act: Act<Row>, lines: readonly string[]) => void;
}

function Question<Row>({ act, close, run }: QuestionProps<Row>) {
  const [text, setText] = useState('');
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (
    <Dialog title={act.label} close={close}>
      <p>{act.question}</p>
      {act.lines !== undefined && (
        <label>
          {act.lines}
          <textarea rows={4} dir="auto" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
        </label>
      )}
      <Answers
        label={act.label}
        isDanger={act.isDanger ?? false}
        isRunning={false}
        run={() => run(act, lines)}
        close={close}
      />
    </Dialog>
  );
}

/** What a call for many did not do, and why, by their ids. */
function Refused({ errors }: { readonly errors: Refusals }) {
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
