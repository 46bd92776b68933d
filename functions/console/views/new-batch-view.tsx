import { useMemo, useState } from 'preact/hooks';
import type { Place } from '../client/fault-places.ts';
import { asWritten, type Draft, requestOf } from '../entry/draft.ts';
import type { CellPlace } from '../entry/job-table.tsx';
import { JobsPart, useColumns } from '../entry/jobs-part.tsx';
import { readProgram } from '../entry/program.ts';
import { ProgramPart } from '../entry/program-part.tsx';
import { RunPreview } from '../entry/run-preview.tsx';
import { SettingsPart } from '../entry/settings-part.tsx';
import { useDevices } from '../entry/use-devices.ts';
import { useDraft } from '../entry/use-draft.ts';
import { useFocusOnFault, useSending } from '../entry/use-sending.ts';
import { VerdictPart } from '../entry/verdict-part.tsx';
import { go, linkTo } from '../ui/address.ts';
import { Crumbs } from '../ui/crumbs.tsx';
import { onSubmit } from '../ui/form.tsx';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';

const { newBatch: words } = texts;

/** What fields of this view show beside them. */
const fields: readonly Place[] = ['sequence_builder', ...Object.keys(words.fields)].map((name) => ['body', name]);

/** A program, its jobs as a table, where they run, and what the service says of it all. */
export function NewBatchView() {
  const { draft, change, clear } = useDraft('');
  const program = useMemo(() => readProgram(draft.text), [draft.text]);
  const columns = useColumns(program);
  const devices = useDevices(draft, program);
  const [chosen, choose] = useState(0);
  const [wanted, want] = useState<CellPlace>();
  const device = draft.device_type === asWritten ? '' : (devices.chosen?.device_type ?? '');
  const request = useMemo(() => requestOf(draft, program, device), [draft, program, device]);
  const isComplete = program !== undefined && draft.project_id.trim() !== '';
  const sending = useSending({
    path: '/api/v1/batches',
    draft,
    request,
    isComplete,
    finish: ({ id }) => {
      clear();
      go(linkTo(['batch', id]));
    },
  });
  const form = useFocusOnFault(sending.refusals);
  const { faults } = sending;
  const shared = { draft, program, faults, change };
  return (
    <form ref={form} class="draft" noValidate onSubmit={onSubmit(() => sending.act.run('send'))}>
      <Crumbs links={[[texts.views.batches, linkTo(['batches'])]]}>{texts.views.newBatch}</Crumbs>
      <div class="head">
        <h1>{texts.views.newBatch}</h1>
        {isBegun(draft) && <span class="aside push">{words.kept}</span>}
      </div>
      <div class="split">
        <div class="stack">
          <ProgramPart {...shared} />
          <JobsPart
            program={program}
            columns={columns}
            jobs={draft.jobs}
            faults={faults}
            chosen={chosen}
            choose={choose}
            wanted={wanted}
            want={want}
            change={(jobs) => change({ jobs })}
          />
          <SettingsPart {...shared} devices={devices} />
        </div>
        <div class="stack">
          {program?.isPulser === true && (
            <RunPreview program={program} jobs={draft.jobs} chosen={chosen} choose={choose} device={devices.chosen} />
          )}
          <VerdictPart
            sending={sending}
            columns={columns}
            places={fields}
            isComplete={isComplete}
            label={words.send(formatCount(draft.jobs.length))}
            want={want}
            jobs={draft.jobs}
            change={(jobs) => change({ jobs })}
          />
        </div>
      </div>
    </form>
  );
}

function isBegun({ text, jobs, name, tags }: Draft): boolean {
  return text !== '' || jobs.length > 1 || name !== '' || tags !== '';
}
