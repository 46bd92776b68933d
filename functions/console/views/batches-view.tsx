import type { ComponentChildren } from 'preact';
import type { Batch } from '../../schemas/batch.ts';
import { batchStatusNames, countUnfinished } from '../../statuses.ts';
import { useCall } from '../client/use-call.ts';
import { go, linkTo, useListAddress } from '../ui/address.ts';
import { Empty, Id, Shown, Status, Time } from '../ui/basics.tsx';
import { type Act, ChoiceTable, callForEach } from '../ui/choice-table.tsx';
import { AddressForm, Options } from '../ui/form.tsx';
import { formatCount, fromField, toField } from '../ui/format.ts';
import { Pager } from '../ui/pager.tsx';
import { StatusBar } from '../ui/status-bar.tsx';
import type { Column } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { changes } from './batch-actions.tsx';

const { batches: words } = texts;

/** Filters with a field of their own, in the order of the form. The address may have others. */
const filters = [
  { name: 'status', options: batchStatusNames },
  { name: 'device_type' },
  { name: 'tag' },
  { name: 'id__starts_with' },
  { name: 'queue_priority', options: texts.priorities },
  { name: 'open', options: ['true', 'false'] },
  { name: 'has_errors', options: ['true', 'false'] },
  { name: 'project_id' },
  { name: 'min_jobs', type: 'number' },
  { name: 'max_jobs', type: 'number' },
  { name: 'created_after', type: 'datetime-local' },
  { name: 'created_before', type: 'datetime-local' },
  { name: 'start_date', type: 'datetime-local' },
  { name: 'end_date', type: 'datetime-local' },
] as const satisfies readonly { name: keyof typeof words.filters; options?: readonly string[]; type?: string }[];

const times = new Set<string>(
  filters.filter((each) => 'type' in each && each.type !== 'number').map(({ name }) => name),
);

function columnsFor(linkToTag: (tag: string) => string): readonly Column<Batch>[] {
  const { columns } = words;
  return [
    [columns.id, ({ id }) => <Id id={id} link={linkTo(['batch', id])} />],
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
    isFiltered,
    link,
    sorting,
    pages,
  } = useListAddress(['batches'], {
    by: 'created_at',
    direction: 'DESC',
  });
  const list = useCall<Batch[]>('/api/v1/batches', { query, keepsAnswer: true, again: () => lookSeconds });
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
      <StatusBar counts={counts.answer?.pagination?.counts ?? {}} linkOf={(status) => link({ status })} />
      <Filters
        address={JSON.stringify(query)}
        query={filtered}
        isFiltered={isFiltered}
        apply={(values) => go(link(values))}
      />
      <Shown loaded={list}>
        {(batches) =>
          batches.length === 0 ? (
            <Empty>
              <p>{isFiltered ? words.noMatch : words.none}</p>
              {isFiltered ? (
                <a href={linkTo(['batches'])}>{words.clear}</a>
              ) : (
                <a href={linkTo(['new'])}>{words.first}</a>
              )}
            </Empty>
          ) : (
            <ChoiceTable
              label={texts.views.batches}
              words={words}
              columns={columnsFor((tag) => link({ tag }))}
              rows={batches}
              sorting={sorting}
              acts={acts}
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

interface FiltersProps {
  readonly address: string;
  readonly query: Readonly<Record<string, readonly string[]>>;
  readonly isFiltered: boolean;
  readonly apply: (values: Readonly<Record<string, string>>) => void;
}

function Filters({ address, query, isFiltered, apply }: FiltersProps) {
  const read = (form: HTMLFormElement) =>
    Object.fromEntries(
      Array.from(new FormData(form), ([name, value]) => [
        name,
        times.has(name) ? fromField(String(value)) : String(value).trim(),
      ]),
    );
  return (
    <details class="filters" open={isFiltered}>
      <summary>{words.filter}</summary>
      <AddressForm address={address} apply={(form) => apply(read(form))}>
        {filters.map((filter) => {
          const value = query[filter.name]?.at(-1) ?? '';
          const label = words.filters[filter.name];
          if ('options' in filter) {
            return (
              <label key={filter.name}>
                {label}
                <select name={filter.name} value={value}>
                  <option value="">{words.any}</option>
                  <Options of={filter.options} />
                </select>
              </label>
            );
          }
          const type: string = 'type' in filter ? filter.type : 'text';
          return (
            <label key={filter.name}>
              {label}
              <input
                name={filter.name}
                type={type as 'text'}
                value={type === 'datetime-local' ? toField(value) : value}
              />
            </label>
          );
        })}
        <div class="actions">
          <button type="submit" class="main">
            {words.apply}
          </button>
          {isFiltered && <a href={linkTo(['batches'])}>{words.clear}</a>}
        </div>
      </AddressForm>
    </details>
  );
}

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
