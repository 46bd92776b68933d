import type { ComponentChildren } from 'preact';
import type { ReadBatch } from '../../schemas/batch.ts';
import { useSigned } from '../client/use-call.ts';
import { readSequence } from '../drawing/readable-sequence.ts';
import { givenName, nameOf, otherTags } from '../parts/batch-name.ts';
import { Owner, ProjectName } from '../parts/owner.tsx';
import type { OwnProject } from '../parts/projects.ts';
import { csvOfJobs, jsonOfJobs } from '../sweep/results-files.ts';
import type { Sweep } from '../sweep/sweep-source.ts';
import { go, linkTo } from '../ui/address.ts';
import { download, Id } from '../ui/basics.tsx';
import { Crumbs } from '../ui/crumbs.tsx';
import { fileName } from '../ui/file-name.ts';
import { NameForm } from '../ui/form.tsx';
import { formatCount } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { Popover } from '../ui/popover.tsx';
import { Status } from '../ui/status.tsx';
import { texts } from '../ui/texts.ts';
import { visible } from '../ui/visible-text.ts';
import { Tags } from './batch-columns.tsx';

const { batch: words, sweep: sweepWords, compare } = texts;

/** Pulser's name for every sequence: it names none. */
const noName = 'pulser-exported';

/** The name that people gave a batch, or its sequence's, or the beginning of its id. */
export function titleOf(batch: Pick<ReadBatch, 'id' | 'tags' | 'sequence_builder'>): string {
  const given = givenName(batch);
  if (given !== undefined) return visible(given);
  const ofSequence = batch.sequence_builder === null ? undefined : readSequence(batch.sequence_builder)?.name?.trim();
  return ofSequence && ofSequence !== noName ? visible(ofSequence.slice(0, 200)) : nameOf(batch);
}

interface HeadProps {
  readonly batch: ReadBatch;
  readonly title: string;
  /** The latest. */
  readonly status: ReadBatch['status'];
  readonly counts: ReadBatch['jobs_count_per_status'];
  readonly sweep: Sweep;
  readonly children: ComponentChildren;
}

/** What the batch is, how it went, and what can be done with it. */
export function BatchHead({ batch, title, status, counts, sweep, children }: HeadProps) {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return (
    <>
      <Crumbs links={[[texts.views.batches, linkTo(['batches'])]]}>{title}</Crumbs>
      <div class="head">
        <h1 class="sweep-title">
          <bdi>{title}</bdi>
        </h1>
        <Status status={status} pill />
        {counts.ERROR > 0 && <span class="failures">{words.jobsFailed(counts.ERROR, total)}</span>}
        <div class="bar push">
          {children}
          <CompareWith id={batch.id} />
          {sweep.jobs.length > 0 && batch.erased_at === null && <Download name={title} sweep={sweep} />}
        </div>
      </div>
    </>
  );
}

interface LineProps {
  readonly batch: ReadBatch;
  readonly total: number;
  readonly runs: ReadonlySet<number | null>;
  readonly constants: string | undefined;
  readonly projects: readonly OwnProject[];
}

/** Facts in one line: where, how much, whose. */
export function BatchLine({ batch, total, runs, constants, projects }: LineProps) {
  const { session } = useSigned();
  const [only] = runs;
  const shots = runs.size === 1 && typeof only === 'number' ? words.ofShots(formatCount(only)) : '';
  const tags = otherTags(batch);
  const isOwn = batch.user_id === session.userId;
  const facts: readonly (readonly [name: string, value: ComponentChildren, isSeen?: boolean])[] = [
    [words.facts.device, <a href={linkTo(['devices', batch.device_type])}>{batch.device_type}</a>],
    [texts.jobs.title, `${words.jobs(formatCount(total))} ${shots}`],
    ...(batch.queue_priority === 'MEDIUM'
      ? []
      : [[words.facts.priority, batch.queue_priority.toLowerCase(), true] as const]),
    [words.by, isOwn ? session.name : <Owner id={batch.user_id} of={batch.project_id} projects={projects} />, true],
    [words.in, <ProjectName id={batch.project_id} projects={projects} />, true],
    ...(tags.length > 0 ? [[words.facts.tags, <Tags tags={tags} link={linkToTag} max={20} />] as const] : []),
    ...(constants === undefined ? [] : [[texts.jobs.columns.variables, constants] as const]),
    [words.id, <Id id={batch.id} />],
  ];
  return (
    <dl class="facts sweep-facts">
      {facts.map(([name, value, isSeen]) => (
        <div key={name}>
          <dt class={isSeen === true ? undefined : 'unseen'}>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function linkToTag(tag: string): string {
  return linkTo(['batches'], { tag });
}

/** All results as one file. */
function Download({ name, sweep: { jobs, total, counts, isWhole } }: { readonly name: string; readonly sweep: Sweep }) {
  const file = `results-${fileName(name)}`;
  const kinds = [
    [sweepWords.downloadCsv, () => download(`${file}.csv`, 'text/csv', csvOfJobs(jobs, counts))],
    [sweepWords.downloadJson, () => download(`${file}.json`, 'application/json', jsonOfJobs(jobs, counts))],
  ] as const;
  return (
    <Popover
      menu
      button={
        <>
          <Icon name="download" />
          {sweepWords.download}
        </>
      }
    >
      <div class="stack">
        {kinds.map(([label, run]) => (
          <button key={label} type="button" disabled={!isWhole} onClick={run}>
            {label}
          </button>
        ))}
        {jobs.length < total && (
          <span class="aside">{sweepWords.partly(formatCount(jobs.length), formatCount(total))}</span>
        )}
        {!isWhole && <span class="aside">{sweepWords.stillReading}</span>}
      </div>
    </Popover>
  );
}

/** Another batch beside this one, by its id or the address of its view. */
function CompareWith({ id }: { readonly id: string }) {
  return (
    <Popover menu button={compare.with}>
      <NameForm
        label={compare.hint}
        button={compare.open}
        submit={(other) => go(linkTo(['compare', [id, idIn(other)].join(',')]))}
      />
    </Popover>
  );
}

/** The last id in a text, or the text itself where it has none. */
export function idIn(text: string): string {
  return text.match(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/gi)?.at(-1) ?? text;
}
