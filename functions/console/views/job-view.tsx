import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { BatchDetails } from '../../schemas/batch.ts';
import type { Job, ReadJob } from '../../schemas/job.ts';
import { isFinalJob } from '../../statuses.ts';
import type { Api } from '../client/public-api.ts';
import { useAction, useCall, useSigned } from '../client/use-call.ts';
import { SequenceView } from '../drawing/sequence-view.tsx';
import { JobResults } from '../parts/job-results.tsx';
import { Owner } from '../parts/owner.tsx';
import { useProjects } from '../parts/projects.ts';
import { linkTo, useAddress } from '../ui/address.ts';
import { Facts, Failure, Id, Long, Shown, Time, Wide } from '../ui/basics.tsx';
import { formatCount } from '../ui/format.ts';
import { Status } from '../ui/status.tsx';
import { texts } from '../ui/texts.ts';

const { job: words } = texts;

/** Seconds between two looks where the service asks for no other pace. */
const lookSeconds = 5;

export function JobView() {
  const { path } = useAddress();
  const id = encodeURIComponent(path[1] ?? '');
  const job = useCall<ReadJob>(`/api/v2/jobs/${id}`);
  const isMoving = job.answer !== undefined && !isFinalJob(job.answer.data);
  const progress = useCall<Pick<Job, 'status'>>(isMoving ? `/api/v1/jobs/${id}/status` : null, {
    again: ({ data }) => (isFinalJob(data as Job) ? undefined : lookSeconds),
  });
  const status = progress.answer?.data.status;
  useEffect(() => {
    if (status !== undefined && status !== job.answer?.data.status) job.reload();
  }, [status]);
  const batchId = job.answer?.data.batch_id;
  const batch = useCall<BatchDetails>(batchId === undefined ? null : `/api/v2/batches/${batchId}`);
  return (
    <Shown loaded={job}>
      {(shown) => (
        <>
          <div class="title">
            <h1>
              {words.title} <Id id={shown.id} /> <Status status={shown.status} />
            </h1>
            {isMoving && shown.rights.includes('end') && <CancelJob key={shown.id} id={shown.id} reload={job.reload} />}
          </div>
          <Failure failure={progress.failure} />
          <JobFacts job={shown} />
          {shown.errors !== null && shown.errors.length > 0 && <Errors errors={shown.errors} />}
          <h2>{words.results}</h2>
          {isMoving ? (
            <p>{words.notEnded}</p>
          ) : (
            <JobResults
              key={shown.id}
              jobId={shown.id}
              batchId={shown.batch_id}
              areExpected={shown.status === 'DONE'}
            />
          )}
          {shown.variables !== null && Object.keys(shown.variables).length > 0 && (
            <Variables variables={shown.variables} />
          )}
          <h2>{texts.batch.sequence}</h2>
          <Shown loaded={batch}>
            {({ sequence_builder: ofBatch, erased_at }) => {
              const text = shown.sequence ?? ofBatch;
              if (text === null) return <p>{erased_at === null ? words.noSequence : texts.batch.erased}</p>;
              return <SequenceView text={text} given={shown.variables ?? {}} name={`sequence-${shown.id}`} />;
            }}
          </Shown>
        </>
      )}
    </Shown>
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

function JobFacts({ job }: { readonly job: Job }) {
  const { session } = useSigned();
  const projects = useProjects();
  const { batch_id, parent_id } = job;
  const facts: [string, ComponentChildren][] = [
    [words.facts.batch, <Id id={batch_id} link={linkTo(['batch', batch_id])} />],
    [words.facts.order, formatCount(job.creation_order)],
    [words.facts.runs, job.runs === null ? words.deviceChooses : formatCount(job.runs)],
    [words.facts.origin, job.origin],
    [texts.batch.facts.created, <Time time={job.created_at} />],
    [texts.batch.facts.started, <Time time={job.start_timestamp} />],
    [texts.batch.facts.ended, <Time time={job.end_timestamp} />],
  ];
  if (job.user_id !== session.userId) {
    facts.push([texts.batch.facts.owner, <Owner id={job.user_id} of={job.project_id} projects={projects} />]);
  }
  if (parent_id !== null) facts.push([words.facts.parent, <Id id={parent_id} link={linkTo(['job', parent_id])} />]);
  return (
    <div class="card">
      <Facts facts={facts} />
    </div>
  );
}

function Errors({ errors }: { readonly errors: readonly string[] }) {
  return (
    <>
      <h2>{words.errors}</h2>
      <ul class="failure">
        {errors.map((error, at) => (
          <li key={at}>
            <bdi>
              <Long text={error} />
            </bdi>
          </li>
        ))}
      </ul>
    </>
  );
}

function Variables({ variables }: { readonly variables: Readonly<Record<string, unknown>> }) {
  return (
    <>
      <h2>{words.variables}</h2>
      <Wide label={words.variables}>
        <table>
          <tbody>
            {Object.entries(variables).map(([name, value]) => (
              <tr key={name}>
                <th scope="row">
                  <bdi>{name}</bdi>
                </th>
                <td class="text">
                  <code>
                    <Long text={JSON.stringify(value)} />
                  </code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </>
  );
}
