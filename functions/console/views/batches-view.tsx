import type { ComponentChildren } from 'preact';
import type { Batch } from '../../schemas/batch.ts';
import { countUnfinished } from '../../statuses.ts';
import { useCall } from '../client/use-call.ts';
import { scopesOf, useProjects } from '../parts/projects.ts';
import { Scopes } from '../parts/scopes.tsx';
import { go, linkTo, useListAddress } from '../ui/address.ts';
import { Empty, Id, type Named, Person, Shown, Time } from '../ui/basics.tsx';
import { type Act, ChoiceTable, callForEach } from '../ui/choice-table.tsx';
import { formatCount } from '../ui/format.ts';
import { Pager } from '../ui/pager.tsx';
import { Status } from '../ui/status.tsx';
import { StatusBar } from '../ui/status-bar.tsx';
import type { Column } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { changes } from './batch-actions.tsx';
import { BatchFilters } from './batch-filters.tsx';

const { batches: words } = texts;

/** `linkToOwner` where the list has rows of others. */
function columnsFor(
  linkToTag: (tag: string) => string,
  linkToOwner: ((id: string) => string) | undefined,
): readonly Column<Named<Batch>>[] {
  const { columns } = words;
  const owner: Column<Named<Batch>> = [
    columns.user_name,
    ({ user_id, user_name }) => <Person id={user_id} name={user_name} link={linkToOwner?.(user_id) ?? ''} />,
  ];
  return [
    [columns.id, ({ id }) => <Id id={id} link={linkTo(['batch', id])} />],
    ...(linkToOwner === undefined ? [] : [owner]),
    [columns.created_at, (batch) => <Time time={batch.created_at} />, undefined, 'created_at'],
    [columns.status, ({ status }) => <Status status={status} />, undefined, 'status'],
    [columns.device_type, (batch) => batch.device_type, undefined, 'device_type'],
    [columns.queue_priority, (batch) => batch.queue_priority, undefined, 'queue_priority'],
    [columns.jobs_count, (batch) => <Progress batch={batch} />, 'number', 'jobs_count'],
    [columns.end_datetime, (batch) => <Time time={batch.end_datetime} />, undefined, 'end_datetime'],
    [columns.tags, ({ tags }) => <Tags tags={tags} link={linkToTag} />],
  ];
}

/** Seconds between two looks at the list where the service asks for no other pace. */
const lookSeconds = 10;

export function BatchesView() {
  const {
    query,
    filters: filtered,
    link,
    sorting,
    pages,
  } = useListAddress(['batches'], {
    by: 'created_at',
    direction: 'DESC',
  });
  const projects = useProjects();
  const { scope: [scope] = [], project_id: [project_id] = [], ...others } = filtered;
  const scopes = scopesOf(projects, { scope, project_id }, texts.scope);
  const isFiltered = Object.keys(others).length > 0 || (scope === undefined && project_id !== undefined);
  const clear = link({
    ...Object.fromEntries(Object.keys(others).map((name) => [name, undefined])),
    project_id: scope && project_id,
  });
  const hasOthers = scope !== undefined || filtered.user_id !== undefined;
  const list = useCall<Named<Batch>[]>('/api/v1/batches', { query, keepsAnswer: true, again: () => lookSeconds });
  const counts = useCall<[]>('/api/v1/batches', {
    query: { ...filtered, count_by: 'status' },
    keepsAnswer: true,
    again: () => lookSeconds,
  });
  return (
    <>
      <div class="title">
        <h1>{texts.views.batches}</h1>
        <a class="button main" href={linkTo(['new'])}>
          {texts.views.newBatch}
        </a>
      </div>
      <Scopes scopes={scopes} link={link} />
      <StatusBar counts={counts.answer?.pagination?.counts ?? {}} linkOf={(status) => link({ status })} />
      <BatchFilters
        address={JSON.stringify(query)}
        query={filtered}
        clear={isFiltered ? clear : undefined}
        projects={projects}
        apply={(values) => go(link(values))}
      />
      <Shown loaded={list}>
        {(batches) =>
          batches.length === 0 ? (
            <Empty>
              <p>{isFiltered ? words.noMatch : scope === undefined ? words.none : texts.scope.none}</p>
              {isFiltered ? <a href={clear}>{words.clear}</a> : <a href={linkTo(['new'])}>{words.first}</a>}
            </Empty>
          ) : (
            <ChoiceTable
              label={texts.views.batches}
              words={words}
              columns={columnsFor((tag) => link({ tag }), hasOthers ? (user_id) => link({ user_id }) : undefined)}
              rows={batches}
              sorting={sorting}
              acts={hasOthers ? actsOnOthers : acts}
              reload={list.reload}
            />
          )
        }
      </Shown>
      <Pager pagination={list.answer?.pagination} {...pages} />
    </>
  );
}

const change =
  (name: 'close' | 'erase'): Act['run'] =>
  (api, ids) =>
    callForEach(ids, (id) => api.call(changes[name].path(id), { method: changes[name].method }));

const rebatch: Act['run'] = (api, ids, { attempt }) =>
  callForEach(ids, (id) =>
    api.call(`/api/v1/batches/${id}/rebatch`, { method: 'POST', idempotencyKey: `${attempt} ${id}` }),
  );

const addTags: Act['run'] = async (api, ids, { lines }) => {
  // The list on the page may be some seconds old.
  const { data } = await api.call<Batch[]>('/api/v1/batches', { query: { id: ids, limit: ids.length } });
  const tagsOf = new Map(data.map(({ id, tags }) => [id, tags]));
  return callForEach(ids, (id) => {
    const body = [...new Set([...(tagsOf.get(id) ?? []), ...lines])];
    return api.call(`/api/v1/batches/${id}/tags`, { method: 'PATCH', body });
  });
};

const cancel: Act['run'] = async (api, batch_ids) => {
  const call = { method: 'PATCH', body: { batch_ids } } as const;
  return (await api.call<{ errors: Record<string, string> }>('/api/v1/batches/cancel', call)).data.errors;
};

const { questions, ...labels } = words.acts;

/** What the view of one batch offers, for many. */
const acts: readonly Act[] = [
  { label: labels.close, question: questions.close, run: change('close') },
  { label: labels.rebatch, question: questions.rebatch, run: rebatch },
  { label: labels.tags, question: questions.tags, lines: texts.batch.tagLines, run: addTags },
  { label: labels.cancel, isDanger: true, run: cancel },
  { label: labels.erase, isDanger: true, question: questions.erase, run: change('erase') },
];

/** Where others' batches are among them, what cannot be undone is asked first. */
const actsOnOthers = acts.map((act) => (act.run === cancel ? { ...act, question: texts.scope.cancel } : act));

/** Jobs that have ended, of all. */
export function Progress({ batch: { jobs_count, jobs_count_per_status: counts } }: { readonly batch: Batch }) {
  const ended = jobs_count - countUnfinished(counts);
  return (
    <>
      {formatCount(ended)} / {formatCount(jobs_count)}{' '}
      <progress max={Math.max(1, jobs_count)} value={ended} aria-label={words.ended} />
    </>
  );
}

/** Of many tags the first, and how many more there are. */
export function Tags({
  tags,
  link,
  max = 3,
}: {
  readonly tags: readonly string[];
  readonly link: (tag: string) => string;
  readonly max?: number;
}): ComponentChildren {
  return (
    <span class="tags">
      {tags.slice(0, max).map((tag) => (
        <a key={tag} href={link(tag)} title={tag}>
          <bdi>{tag}</bdi>
        </a>
      ))}
      {tags.length > max && <span title={tags.slice(max).join(', ')}>+{formatCount(tags.length - max)}</span>}
    </span>
  );
}
