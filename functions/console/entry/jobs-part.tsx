import { useMemo, useState } from 'preact/hooks';
import type { Fault } from '../client/fault-places.ts';
import { readSequence } from '../drawing/readable-sequence.ts';
import { unitsOf } from '../drawing/variable-units.ts';
import { formatCount } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { texts } from '../ui/texts.ts';
import { type JobDraft, shotsColumn } from './cell-values.ts';
import { columnOf, jobOf } from './fault-groups.ts';
import type { RowFault } from './job-row.tsx';
import { type CellPlace, JobTable } from './job-table.tsx';
import { PasteDialog } from './paste-dialog.tsx';
import type { TableColumn } from './pasted-block.ts';
import { labelOf, type Program } from './program.ts';
import { maxJobs } from './sweep.ts';
import { SweepMaker } from './sweep-maker.tsx';

const { newBatch: words } = texts;

/** The columns of a program's jobs: its variables, and how often each runs. */
export function useColumns(program: Program | undefined): readonly TableColumn[] {
  return useMemo(() => {
    const variables = (program?.variables ?? []).map((variable) => ({
      name: variable.name,
      label: labelOf(variable),
      variable,
    }));
    return [...variables, { name: shotsColumn, label: words.runs, variable: undefined }];
  }, [program]);
}

interface Props {
  readonly program: Program | undefined;
  readonly columns: readonly TableColumn[];
  readonly jobs: readonly JobDraft[];
  readonly faults: readonly Fault[];
  readonly chosen: number;
  readonly choose: (row: number) => void;
  readonly wanted: CellPlace | undefined;
  readonly want: (place: CellPlace) => void;
  readonly change: (jobs: readonly JobDraft[]) => void;
}

/** The jobs of a batch: a table, and what fills it. */
export function JobsPart(props: Props) {
  const { program, columns, jobs, faults, want, change } = props;
  const [isPasting, setPasting] = useState(false);
  const byRow = useMemo(() => rowFaults(faults, columns), [faults, columns]);
  const units = useMemo(() => unitsOf((program && readSequence(program.text)) ?? {}), [program]);
  const add = () => {
    const last = jobs.at(-1)!;
    change([...jobs, { ...last, id: Math.max(...jobs.map(({ id }) => id)) + 1 }]);
    want({ row: jobs.length, column: 0 });
  };
  return (
    <section class="card jobs-part" aria-labelledby="jobs-title">
      <div class="bar">
        <h2 id="jobs-title">
          {words.jobs} <span class="aside">{words.rowForEach(formatCount(jobs.length))}</span>
        </h2>
        <div class="actions push">
          <button type="button" class="tiny" onClick={() => setPasting(true)}>
            <Icon name="paste" />
            {words.paste.open}
          </button>
          <button
            type="button"
            class="tiny"
            aria-label={words.addJobLong}
            disabled={jobs.length >= maxJobs}
            onClick={add}
          >
            <Icon name="plus" />
            {words.addJob}
          </button>
        </div>
      </div>
      <SweepMaker variables={program?.variables ?? []} jobs={jobs} change={change} />
      <JobTable {...props} faults={byRow} units={units} />
      {isPasting && <PasteDialog columns={columns} jobs={jobs} change={change} close={() => setPasting(false)} />}
    </section>
  );
}

/** The faults by rows. Places within a value are named. */
function rowFaults(
  faults: readonly Fault[],
  columns: readonly TableColumn[],
): ReadonlyMap<number, readonly RowFault[]> {
  const byRow = new Map<number, RowFault[]>();
  const isFree = columns.some(({ variable }) => variable?.type === 'json');
  for (const fault of faults) {
    const row = jobOf(fault);
    if (row === undefined) continue;
    const said = columnOf(fault);
    const isVariable = fault.loc[3] === 'variables';
    const isShown = columns.some(({ name }) => name === said);
    const column = isVariable && !isShown && isFree ? 'variables' : said;
    const rest = fault.loc.slice(isShown || isFree ? 5 : 3).join(' › ');
    const msg = rest === '' ? fault.msg : `${rest}: ${fault.msg}`;
    const own = byRow.get(row);
    if (own === undefined) byRow.set(row, [{ column, msg }]);
    else own.push({ column, msg });
  }
  return byRow;
}
