import { useContext, useMemo, useState } from 'preact/hooks';
import type { ReadBatch } from '../../schemas/batch.ts';
import { finalBatchStatuses } from '../../statuses.ts';
import { useCall } from '../client/use-call.ts';
import { jobsOf } from '../entry/draft.ts';
import type { CellPlace } from '../entry/job-table.tsx';
import { JobsPart, useColumns } from '../entry/jobs-part.tsx';
import { type Program, readProgram } from '../entry/program.ts';
import { RunPreview } from '../entry/run-preview.tsx';
import { useDraft } from '../entry/use-draft.ts';
import { useFocusOnFault, useSending } from '../entry/use-sending.ts';
import { VerdictPart } from '../entry/verdict-part.tsx';
import { nameOf } from '../parts/batch-name.ts';
import { KnownDevices } from '../parts/known-devices.ts';
import { go, linkTo, useAddress } from '../ui/address.ts';
import { Shown } from '../ui/basics.tsx';
import { Crumbs } from '../ui/crumbs.tsx';
import { onSubmit } from '../ui/form.tsx';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';

const { addJobs: words } = texts;

/** Jobs for an open batch, in the table of a new one. */
export function AddJobsView() {
  const { path } = useAddress();
  const batch = useCall<ReadBatch>(`/api/v2/batches/${encodeURIComponent(path[1] ?? '')}`);
  return <Shown loaded={batch}>{(shown) => <OfBatch key={shown.id} batch={shown} />}</Shown>;
}

function OfBatch({ batch }: { readonly batch: ReadBatch }) {
  const { id, open, status, rights, sequence_builder } = batch;
  const program = useMemo(
    () => (sequence_builder === null ? undefined : readProgram(sequence_builder)),
    [sequence_builder],
  );
  const name = nameOf(batch);
  const problem = !rights.includes('change')
    ? words.notYours
    : !open || finalBatchStatuses.includes(status)
      ? words.closed
      : program === undefined
        ? words.noSequence
        : undefined;
  return (
    <>
      <Crumbs
        links={[
          [texts.views.batches, linkTo(['batches'])],
          [name, linkTo(['batch', id])],
        ]}
      >
        {words.title}
      </Crumbs>
      {problem === undefined ? (
        <AddForm batch={batch} program={program!} name={name} />
      ) : (
        <>
          <h1>{words.title}</h1>
          <p class="notice">{problem}</p>
          <a class="button" href={linkTo(['batch', id])}>
            {words.back}
          </a>
        </>
      )}
    </>
  );
}

function AddForm({
  batch,
  program,
  name,
}: {
  readonly batch: ReadBatch;
  readonly program: Program;
  readonly name: string;
}) {
  const { id, device_type } = batch;
  const { draft, change, clear } = useDraft(`:${id}`);
  const columns = useColumns(program);
  const device = useContext(KnownDevices)?.find((each) => each.device_type === device_type);
  const [chosen, choose] = useState(0);
  const [wanted, want] = useState<CellPlace>();
  const request = useMemo(() => {
    const { jobs, faults } = jobsOf(draft.jobs, program.variables);
    return { body: jobs, faults };
  }, [draft.jobs, program]);
  const sending = useSending({
    path: `/api/v2/batches/${encodeURIComponent(id)}/jobs`,
    draft,
    request,
    isComplete: true,
    finish: () => {
      clear();
      go(linkTo(['batch', id]));
    },
  });
  const form = useFocusOnFault(sending.refusals);
  return (
    <form ref={form} class="draft" noValidate onSubmit={onSubmit(() => sending.act.run('send'))}>
      <div class="head">
        <h1>
          {words.to} <bdi>{name}</bdi>
        </h1>
        <span class="aside push">
          {texts.batch.facts.device} <bdi>{device_type}</bdi>
        </span>
      </div>
      <div class="split">
        <div class="stack">
          <JobsPart
            program={program}
            columns={columns}
            jobs={draft.jobs}
            faults={sending.faults}
            chosen={chosen}
            choose={choose}
            wanted={wanted}
            want={want}
            change={(jobs) => change({ jobs })}
          />
        </div>
        <div class="stack">
          {program.isPulser && (
            <RunPreview program={program} jobs={draft.jobs} chosen={chosen} choose={choose} device={device} />
          )}
          <VerdictPart
            sending={sending}
            columns={columns}
            places={[]}
            isComplete
            label={words.add(formatCount(draft.jobs.length))}
            want={want}
            jobs={draft.jobs}
            change={(jobs) => change({ jobs })}
          />
        </div>
      </div>
    </form>
  );
}
