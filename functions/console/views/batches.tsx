import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Batch } from '../../schemas/batch.ts';
import { go, linkTo, useAddress } from '../address.ts';
import type { Api } from '../api.ts';
import { formatCount, fromField, toField } from '../format.ts';
import { Empty, Failure, Id, Shown, Status, Time, Wide } from '../parts/basics.tsx';
import { Pager } from '../parts/pager.tsx';
import { StatusBar } from '../parts/status-bar.tsx';
import { texts } from '../texts.ts';
import { useAction, useCall } from '../use-call.ts';

const { batches: words } = texts;

/** Filters with a field of their own, in the order of the form. Others may stand in the address. */
const filters = [
  { name: 'status', options: ['PENDING', 'RUNNING', 'DONE', 'CANCELED', 'CANCELING', 'TIMED_OUT', 'ERROR', 'PAUSED'] },
  { name: 'device_type' },
  { name: 'tag' },
  { name: 'id__starts_with' },
  { name: 'queue_priority', options: ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'FREE'] },
  { name: 'open', options: ['true', 'false'] },
  { name: 'has_errors', options: ['true', 'false'] },
  { name: 'project_id' },
  { name: 'min_jobs', type: 'number' },
  { name: 'max_jobs', type: 'number' },
  { name: 'created_after', type: 'datetime-local' },
  { name: 'created_before', type: 'datetime-local' },
] as const satisfies readonly { name: keyof typeof words.filters; options?: readonly string[]; type?: string }[];

const columns = ['created_at', 'status', 'device_type', 'queue_priority', 'jobs_count', 'end_datetime'] as const;

/** Seconds between two looks at the list where the service asks for no other pace. */
const lookSeconds = 10;

const defaultLimit = 25;

/** The query of the list, as the address has it: the API checks it. */
export function queryOf(parameters: URLSearchParams): Record<string, string[]> {
  return Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name)]));
}

export function BatchesView() {
  const { query: parameters } = useAddress();
  const query = queryOf(parameters);
  const { order_by, order_by_direction, limit = [String(defaultLimit)], offset, ...filtered } = query;
  const list = useCall<Batch[]>('/api/v1/batches', {
    query: { order_by_direction: 'DESC', ...query, limit },
    keepsAnswer: true,
    again: () => lookSeconds,
  });
  const counts = useCall<[]>('/api/v1/batches', {
    query: { ...filtered, count_by: 'status' },
    keepsAnswer: true,
    again: () => lookSeconds,
  });
  const link = (changed: Record<string, string | string[] | undefined>) =>
    linkTo(['batches'], { ...query, offset: undefined, ...changed });
  const isFiltered = Object.keys(filtered).length > 0;
  return (
    <>
      <div class="title">
        <h1>{texts.views.batches}</h1>
        <a class="button main" href={linkTo(['new'])}>
          {texts.views.newBatch}
        </a>
      </div>
      <StatusBar counts={counts.answer?.pagination?.counts ?? {}} linkOf={(status) => link({ status })} />
      <Filters query={query} isFiltered={isFiltered} />
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
            <BatchTable
              batches={batches}
              sorting={{ by: order_by?.at(-1) ?? 'created_at', direction: order_by_direction?.at(-1) ?? 'DESC' }}
              link={link}
              reload={list.reload}
            />
          )
        }
      </Shown>
      {list.answer?.pagination !== undefined && (
        <Pager
          pagination={list.answer.pagination}
          limit={Number(limit.at(-1))}
          linkTo={(to) => link({ offset: to === 0 ? undefined : String(to) })}
        />
      )}
    </>
  );
}

function Filters({ query, isFiltered }: { readonly query: Record<string, string[]>; readonly isFiltered: boolean }) {
  const apply = (form: HTMLFormElement) => {
    const values = Object.fromEntries(
      Array.from(new FormData(form), ([name, value]) => [
        name,
        /^created_/.test(name) ? fromField(String(value)) : String(value).trim(),
      ]),
    );
    go(linkTo(['batches'], { ...query, offset: undefined, ...values }));
  };
  return (
    <details class="filters" open={isFiltered}>
      <summary>{words.filter}</summary>
      <form
        key={JSON.stringify(query)}
        onSubmit={(event) => {
          event.preventDefault();
          apply(event.currentTarget);
        }}
      >
        {filters.map((filter) => {
          const value = query[filter.name]?.at(-1) ?? '';
          const label = words.filters[filter.name];
          if ('options' in filter) {
            return (
              <label key={filter.name}>
                {label}
                <select name={filter.name} value={value}>
                  <option value="">{words.any}</option>
                  {filter.options.map((each) => (
                    <option key={each}>{each}</option>
                  ))}
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
      </form>
    </details>
  );
}

interface TableProps {
  readonly batches: readonly Batch[];
  readonly sorting: { readonly by: string; readonly direction: string };
  readonly link: (changed: Record<string, string | undefined>) => string;
  readonly reload: () => void;
}

function BatchTable({ batches, sorting, link, reload }: TableProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const present = batches.filter(({ id }) => chosen.has(id));
  const toggle = (id: string) => setChosen(new Set([id]).symmetricDifference(chosen));
  const allChosen = present.length === batches.length;
  return (
    <>
      {present.length > 0 && <Chosen batches={present} clear={() => setChosen(new Set())} reload={reload} />}
      <Wide label={texts.views.batches}>
        <table>
          <thead>
            <tr>
              <th>
                <input
                  type="checkbox"
                  aria-label={words.chooseAll}
                  checked={allChosen}
                  onChange={() => setChosen(new Set(allChosen ? [] : batches.map(({ id }) => id)))}
                />
              </th>
              <th scope="col">{words.columns.id}</th>
              {columns.map((name) => (
                <Sortable key={name} name={name} label={words.columns[name]} sorting={sorting} link={link} />
              ))}
              <th scope="col">{words.columns.tags}</th>
            </tr>
          </thead>
          <tbody>
            {batches.map((batch) => (
              <tr key={batch.id}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`${words.choose} ${batch.id}`}
                    checked={chosen.has(batch.id)}
                    onChange={() => toggle(batch.id)}
                  />
                </td>
                <td>
                  <Id id={batch.id} link={linkTo(['batch', batch.id])} />
                </td>
                <td>
                  <Time time={batch.created_at} />
                </td>
                <td>
                  <Status status={batch.status} />
                </td>
                <td>{batch.device_type}</td>
                <td>{batch.queue_priority}</td>
                <td class="number">
                  <Progress batch={batch} />
                </td>
                <td>
                  <Time time={batch.end_datetime} />
                </td>
                <td>
                  <Tags tags={batch.tags} link={(tag) => link({ tag })} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </>
  );
}

/** A column's head that sorts by it: the other way around when it does so already. */
export function Sortable({
  name,
  label,
  sorting,
  link,
}: Pick<TableProps, 'sorting' | 'link'> & { readonly name: string; readonly label: string }) {
  const isSorted = sorting.by === name;
  const next = isSorted && sorting.direction === 'DESC' ? 'ASC' : 'DESC';
  return (
    <th scope="col" aria-sort={isSorted ? (sorting.direction === 'DESC' ? 'descending' : 'ascending') : undefined}>
      <a href={link({ order_by: name, order_by_direction: next })}>
        {label}
        {isSorted && <span aria-hidden="true">{sorting.direction === 'DESC' ? ' ↓' : ' ↑'}</span>}
      </a>
    </th>
  );
}

/** Jobs that have ended, of all. */
export function Progress({ batch: { jobs_count, jobs_count_per_status: counts } }: { readonly batch: Batch }) {
  const { DONE, ERROR, CANCELED } = counts;
  const ended = DONE + ERROR + CANCELED;
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

/** What can be done to many batches at once, and what failed. */
function Chosen({
  batches,
  clear,
  reload,
}: {
  readonly batches: readonly Batch[];
  readonly clear: () => void;
  readonly reload: () => void;
}) {
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const cancel = useAction(async (api: Api) => {
    const { data } = await api.call<{ errors: Record<string, string> }>('/api/v1/batches/cancel', {
      method: 'PATCH',
      body: { batch_ids: batches.map(({ id }) => id) },
    });
    setErrors(data.errors);
    if (Object.keys(data.errors).length === 0) clear();
    reload();
  });
  return (
    <section class="chosen" aria-label={words.chosen}>
      <strong>
        {formatCount(batches.length)} {words.chosen}
      </strong>
      <button type="button" class="danger" disabled={cancel.isRunning} onClick={() => cancel.run()}>
        {words.cancel}
      </button>
      <button type="button" onClick={clear}>
        {words.clearChosen}
      </button>
      <Failure failure={cancel.failure} />
      <Refused errors={errors} />
    </section>
  );
}

/** What a call for many did not do, and why, by their ids. */
export function Refused({ errors }: { readonly errors: Readonly<Record<string, string>> }) {
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
