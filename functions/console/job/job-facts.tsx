import type { ComponentChildren } from 'preact';
import type { BatchDetails } from '../../schemas/batch.ts';
import type { Job } from '../../schemas/job.ts';
import { useSigned } from '../client/use-call.ts';
import { Owner } from '../parts/owner.tsx';
import { useProjects } from '../parts/projects.ts';
import { linkTo } from '../ui/address.ts';
import { Facts, Id, Long } from '../ui/basics.tsx';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { shortValue } from '../ui/variable-value.ts';

const { job: words } = texts;

/** Variables in the line of facts: the card beside the counts has all. */
const maxVariables = 4;

interface FactsProps {
  readonly job: Job;
  readonly batch: BatchDetails | undefined;
  /** Units of variables, where they are known. */
  readonly units: ReadonlyMap<string, string> | undefined;
}

/** What a job is, in one line. */
export function JobFacts({ job, batch, units }: FactsProps) {
  const { session } = useSigned();
  const projects = useProjects();
  const variables = Object.entries(job.variables ?? {});
  return (
    <dl class="facts">
      {variables.slice(0, maxVariables).map(([name, value]) => (
        <div key={name}>
          <dt class="math">
            <bdi>{name}</bdi> =
          </dt>
          <dd title={JSON.stringify(value).slice(0, 1_000)}>
            <bdi>{shortValue(value)}</bdi> {units?.get(name)}
          </dd>
        </div>
      ))}
      <div>
        <dd>{job.runs === null ? words.deviceChooses : words.shots(job.runs, formatCount(job.runs))}</dd>
      </div>
      {batch !== undefined && (
        <div>
          <dt>{words.on}</dt>
          <dd>
            <a href={linkTo(['devices', batch.device_type])}>
              <bdi>{batch.device_type}</bdi>
            </a>
          </dd>
        </div>
      )}
      {job.user_id !== session.userId && (
        <div>
          <dt>{words.by}</dt>
          <dd>
            <Owner id={job.user_id} of={job.project_id} projects={projects} />
          </dd>
        </div>
      )}
      <div>
        <dd>
          <Id id={job.id} />
        </dd>
      </div>
    </dl>
  );
}

/** All variables, with their exact values. */
export function JobVariables({ variables, units }: Pick<Job, 'variables'> & Pick<FactsProps, 'units'>) {
  const entries = Object.entries(variables ?? {});
  if (entries.length === 0) return null;
  const facts = entries.map(([name, value]) => {
    const shown = (
      <>
        <bdi>
          <Long text={exactOf(value)} max={60} />
        </bdi>{' '}
        <span class="soft">{units?.get(name)}</span>
      </>
    );
    return [name, shown] as const;
  });
  return (
    <section class="card">
      <h2>{words.variables}</h2>
      <Facts facts={facts} />
    </section>
  );
}

function exactOf(value: unknown): string {
  const [only, ...others] = [value].flat();
  return JSON.stringify(others.length === 0 ? only : value) ?? '[]';
}

/** What is seldom asked for. */
export function JobOrigins({ job: { batch_id, origin, parent_id } }: { readonly job: Job }) {
  const facts: (readonly [string, ComponentChildren])[] = [
    [words.facts.batch, <Id id={batch_id} link={linkTo(['batch', batch_id])} />],
    [words.facts.origin, origin],
  ];
  if (parent_id !== null) facts.push([words.facts.parent, <Id id={parent_id} link={linkTo(['job', parent_id])} />]);
  return (
    <section class="card">
      <h2>{words.more}</h2>
      <Facts facts={facts} />
    </section>
  );
}
