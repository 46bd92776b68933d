import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { BatchDetails } from '../../schemas/batch.ts';
import type { Job, ReadJob } from '../../schemas/job.ts';
import { isFinalJob } from '../../statuses.ts';
import type { Api } from '../client/public-api.ts';
import { type Loaded, useAction, useCall } from '../client/use-call.ts';
import { type Drawing, drawSequence } from '../drawing/draw-sequence.ts';
import { shapeOf } from '../drawing/glyph-shape.ts';
import { SequenceText } from '../drawing/sequence-text.tsx';
import { JobCalibration } from '../job/job-calibration.tsx';
import { JobFacts, JobOrigins, JobVariables } from '../job/job-facts.tsx';
import { JobFigure } from '../job/job-figure.tsx';
import { NeighborLinks, useNeighbors } from '../job/job-neighbors.tsx';
import { JobResults } from '../job/job-results.tsx';
import { useResults } from '../job/use-results.ts';
import { nameOf } from '../parts/batch-name.ts';
import { lengthOf, type Order } from '../parts/counter.ts';
import { linesOfJob, PythonCode } from '../parts/python-code.tsx';
import { TimelineBar } from '../parts/timeline-bar.tsx';
import { linkTo, useAddress } from '../ui/address.ts';
import { Failure, Long, Shown } from '../ui/basics.tsx';
import { Crumbs } from '../ui/crumbs.tsx';
import { formatCount } from '../ui/format.ts';
import { NoAnswer } from '../ui/no-answer.tsx';
import { Status } from '../ui/status.tsx';
import { statusWord } from '../ui/status-looks.ts';
import { texts } from '../ui/texts.ts';
import { shortValue } from '../ui/variable-value.ts';
import { titleOf } from './batch-head.tsx';

const { job: words } = texts;

/** Seconds between two looks where the service asks for no other pace. */
const lookSeconds = 5;

export function JobView() {
  const { path } = useAddress();
  const id = encodeURIComponent(path[1] ?? '');
  // The old job stays until the next one is there.
  const job = useCall<ReadJob>(`/api/v2/jobs/${id}`, { keepsAnswer: true });
  const shown = job.answer?.data;
  const isMoving = shown !== undefined && !isFinalJob(shown);
  const progress = useCall<Pick<Job, 'status'>>(isMoving ? `/api/v1/jobs/${shown.id}/status` : null, {
    again: ({ data }) => (isFinalJob(data as Job) ? undefined : lookSeconds),
  });
  const status = progress.answer?.data.status;
  useEffect(() => {
    if (status !== undefined && status !== shown?.status) job.reload();
  }, [status]);
  const batch = useCall<BatchDetails>(shown === undefined ? null : `/api/v2/batches/${shown.batch_id}`);
  return (
    <div aria-busy={shown !== undefined && shown.id !== path[1]?.toLowerCase()}>
      <NoAnswer loaded={job} title={words.title} id={path[1] ?? ''} />
      <Shown loaded={job}>
        {(each) => (
          <JobPage job={each} batch={batch} reload={job.reload}>
            <Failure failure={progress.failure} />
            <Errors job={each} />
          </JobPage>
        )}
      </Shown>
    </div>
  );
}

interface PageProps {
  readonly job: ReadJob;
  readonly batch: Loaded<BatchDetails>;
  readonly reload: () => void;
  /** What comes first below the head. */
  readonly children: ComponentChildren;
}

function JobPage({ job, batch, reload, children }: PageProps) {
  const text = job.sequence ?? batch.answer?.data.sequence_builder ?? null;
  const values = JSON.stringify(job.variables ?? {});
  // Answers bring the same values as new objects.
  const drawing = useMemo(() => (text === null ? undefined : drawSequence(text, JSON.parse(values))), [text, values]);
  return (
    <>
      <JobHead job={job} batch={batch.answer?.data} drawing={drawing} reload={reload} />
      {children}
      <JobBody job={job} batch={batch} text={text} drawing={drawing} />
    </>
  );
}

interface HeadProps {
  readonly job: ReadJob;
  readonly batch: BatchDetails | undefined;
  readonly drawing: Drawing | undefined;
  readonly reload: () => void;
}

function JobHead({ job, batch, drawing, reload }: HeadProps) {
  const neighbors = useNeighbors(job);
  const number = formatCount(job.creation_order + 1);
  const count = neighbors.count === undefined ? '' : words.of(formatCount(neighbors.count));
  const title = `${words.title} ${number} ${count}`.trimEnd();
  useEffect(() => {
    document.title = `${title} · ${texts.title}`;
  }, [title]);
  const canCancel = !isFinalJob(job) && job.status !== 'CANCELING' && job.rights.includes('end');
  const batchName = batchOf(job, batch);
  return (
    <>
      <Crumbs
        links={[
          [texts.views.batches, linkTo(['batches'])],
          [batchName, linkTo(['batch', job.batch_id])],
        ]}
      >
        {title}
      </Crumbs>
      <div class="head">
        <h1>
          {words.title} {number} <span class="soft">{count}</span>
        </h1>
        <Status status={job.status} pill />
        <div class="bar push">
          <NeighborLinks job={job} {...neighbors} />
          {canCancel && <CancelJob key={job.id} id={job.id} reload={reload} />}
        </div>
      </div>
      <JobFacts job={job} batch={batch} units={drawing?.units} />
      {batch !== undefined && <JobCalibration key={job.id} job={job} deviceType={batch.device_type} />}
      <TimelineBar
        created={job.created_at}
        started={job.start_timestamp}
        ended={job.end_timestamp}
        status={job.status}
      />
    </>
  );
}

function CancelJob({ id, reload }: { readonly id: string; readonly reload: () => void }) {
  const cancel = useAction(async (api: Api) => {
    await api.call(`/api/v2/jobs/${id}/cancel`, { method: 'PATCH' });
    reload();
  });
  return (
    <div>
      <button type="button" class="danger" disabled={cancel.isRunning} onClick={() => cancel.run()}>
        {words.cancel}
      </button>
      <Failure failure={cancel.failure} />
    </div>
  );
}

/** Why it failed or was canceled, as it was reported. */
function Errors({ job: { status, errors } }: { readonly job: Job }) {
  const hasFailed = status === 'ERROR';
  if (!hasFailed && (errors ?? []).length === 0) return null;
  return (
    <section class={hasFailed ? 'failure' : 'notice'} aria-label={words.errors}>
      <h2>{hasFailed ? words.failed : `${statusWord(status)}.`}</h2>
      {(errors ?? []).length === 0 ? (
        <p>{words.noReason}</p>
      ) : (
        <>
          <p>{words.reported}</p>
          <ul>
            {(errors ?? []).map((error, at) => (
              <li key={at}>
                <bdi>
                  <Long text={error} />
                </bdi>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

interface BodyProps {
  readonly job: ReadJob;
  readonly batch: Loaded<BatchDetails>;
  /** Of its sequence; null where there is none, or none yet. */
  readonly text: string | null;
  readonly drawing: Drawing | undefined;
}

/** Figure, counts, and what explains them. */
function JobBody({ job, batch, text, drawing }: BodyProps) {
  const [by, setBy] = useState<Order>('frequent');
  const counts = useRef<HTMLElement>(null);
  const hasEnded = isFinalJob(job);
  const results = useResults(job.id, job.batch_id, hasEnded);
  const register = drawing?.register;
  // Each bit is a qubit, in the order of the register, where there are as many.
  const isMatching = register !== undefined && lengthOf(results.counts ?? []) === register.qubits.length;
  const shape = useMemo(() => (isMatching ? shapeOf(register) : undefined), [register, isMatching]);
  const bitNames = isMatching ? namesOf(register.qubits.map(({ id }) => id)) : undefined;
  const showAll = () => counts.current?.scrollIntoView({ behavior: 'smooth' });
  const hasTable = results.document !== undefined;
  const cards = (
    <>
      <JobVariables variables={job.variables} units={drawing?.units} />
      <PythonCode lines={linesOfJob(job.id)} />
      {text !== null && (
        <section class="card">
          <SequenceText text={text} name={`sequence-${job.id}`} />
        </section>
      )}
      <JobOrigins job={job} />
    </>
  );
  const table = hasEnded && (
    <JobResults
      key={job.id}
      job={job}
      results={results}
      areExpected={job.status === 'DONE' && (batch.answer?.data.erased_at ?? null) === null}
      {...{ shape, bitNames, by, setBy }}
    />
  );
  return (
    <>
      {!hasEnded && <p class="aside">{words.notEnded}</p>}
      {!hasTable && table}
      <div aria-busy={results.isOld}>
        <JobFigure
          counts={results.outcomes}
          title={captionOf(job, batch.answer?.data)}
          hasValues={job.variables !== null}
          by={by}
          drawing={drawing}
          shape={shape}
          name={`job-${job.id.slice(0, 8)}`}
          showAll={showAll}
        />
      </div>
      <Shown loaded={batch}>
        {({ erased_at }) => {
          if (text === null) return <p>{erased_at === null ? words.noSequence : texts.batch.erased}</p>;
          return drawing === undefined && <p>{texts.sequence.noSequence}</p>;
        }}
      </Shown>
      {hasTable ? (
        <div class="split">
          <section class="stack" ref={counts} aria-busy={results.isOld}>
            {table}
          </section>
          <aside class="stack">{cards}</aside>
        </div>
      ) : (
        <div class="cards">{cards}</div>
      )}
    </>
  );
}

/** `q0 … q8`: which qubits the first and the last bit are. */
function namesOf(names: readonly string[]): string {
  const [first = ''] = names;
  return names.length < 2 ? first : `${first} … ${names.at(-1)}`;
}

/** What its batch is called, as in the view of the batch. */
function batchOf({ batch_id }: Pick<Job, 'batch_id'>, batch: BatchDetails | undefined): string {
  return batch === undefined ? nameOf({ id: batch_id, tags: [] }) : titleOf(batch);
}

/** `Ramp, job 7: T = 3200, omega = 9.42.` */
function captionOf({ creation_order, variables, batch_id }: Job, batch: BatchDetails | undefined): string {
  const values = Object.entries(variables ?? {}).slice(0, 4);
  const list = values.map(([name, value]) => `${name} = ${shortValue(value, 24)}`).join(', ');
  const name = batchOf({ batch_id }, batch);
  return `${name}, ${words.small} ${formatCount(creation_order + 1)}${list === '' ? '' : `: ${list}`}.`;
}
