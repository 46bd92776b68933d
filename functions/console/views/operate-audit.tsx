import type { Act } from '../../schemas/audit.ts';
import { type Loaded, useCall } from '../client/use-call.ts';
import { go, linkTo, useAddress } from '../ui/address.ts';
import { Empty, Id, Long, Person, Shown, Time } from '../ui/basics.tsx';
import { Field } from '../ui/field.tsx';
import { AddressForm, Options } from '../ui/form.tsx';
import { fromField, toField } from '../ui/format.ts';
import { Pager } from '../ui/pager.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';

const { audit: words } = texts.operate;

const path = ['operate', 'audit'];
const pageSize = 50;
const times = new Set(['from', 'to']);
const filters = Object.keys(words.filters) as (keyof typeof words.filters)[];
const actions = [
  ...['device.set', 'batch.cancel', 'batch.close', 'batch.priority', 'batch.read', 'job.cancel'],
  ...['limits.put', 'limits.delete'],
];

/** An entry, with the name of who did it. */
type Entry = Act & { readonly operator_name?: string | null };

const columns: readonly Column<Entry>[] = [
  [words.columns.at, ({ at }) => <Time time={at} />],
  [words.columns.operator, ({ operator, operator_name }) => <Person id={operator} name={operator_name} />],
  [words.columns.action, ({ action }) => action],
  [words.columns.target, ({ target }) => <Members members={target} />, 'text'],
  [words.columns.reason, ({ reason }) => <bdi>{reason ?? texts.common.none}</bdi>, 'text'],
  [words.columns.before, ({ before }) => <Members members={before} />, 'text'],
  [words.columns.after, ({ after }) => <Members members={after} />, 'text'],
];

/** What operators did, newest first. */
export function AuditPart() {
  const { query } = useAddress();
  const filtered = Object.fromEntries(filters.map((name) => [name, query.get(name) ?? undefined]));
  const offset = query.get('offset') ?? undefined;
  const list = useCall<Entry[]>('/api/v1/audit', { query: { ...filtered, limit: pageSize, offset } });
  const link = (to: number) => linkTo(path, { ...filtered, offset: to === 0 ? undefined : String(to) });
  return (
    <>
      <AuditFilters query={query} />
      <Acts loaded={list} />
      <Pager pagination={list.answer?.pagination} limit={pageSize} linkTo={link} />
    </>
  );
}

/** The latest acts in a project, for its administrators. */
export function ProjectActs({ projectId }: { readonly projectId: string }) {
  const list = useCall<Entry[]>('/api/v1/audit', { query: { project_id: projectId, limit: pageSize } });
  return <Acts loaded={list} />;
}

function Acts({ loaded }: { readonly loaded: Loaded<Entry[]> }) {
  return (
    <Shown loaded={loaded}>
      {(acts) =>
        acts.length === 0 ? (
          <Empty>{words.none}</Empty>
        ) : (
          <Table label={words.title} columns={columns} rows={acts} keyOf={({ at }, place) => `${at} ${place}`} />
        )
      }
    </Shown>
  );
}

function AuditFilters({ query }: { readonly query: URLSearchParams }) {
  const apply = (form: HTMLFormElement) => {
    const values = Array.from(new FormData(form), ([name, value]) => {
      const text = String(value).trim();
      return [name, times.has(name) ? fromField(text) : text];
    });
    go(linkTo(path, Object.fromEntries(values)));
  };
  return (
    <AddressForm address={query.toString()} look="card form" apply={apply}>
      {filters.map((name) => {
        const value = query.get(name) ?? '';
        return (
          <Field key={name} label={words.filters[name]}>
            {name === 'action' ? (
              <select name={name} value={value}>
                <option value="">{texts.batches.any}</option>
                <Options of={actions} />
              </select>
            ) : times.has(name) ? (
              <input name={name} type="datetime-local" value={toField(value)} />
            ) : (
              <input name={name} value={value} />
            )}
          </Field>
        );
      })}
      <div class="actions">
        <button type="submit" class="main">
          {texts.batches.apply}
        </button>
        <a href={linkTo(path)}>{words.clear}</a>
      </div>
    </AddressForm>
  );
}

/** Names and values; of long values the beginning. */
function Members({ members }: { readonly members: Readonly<Record<string, unknown>> | null }) {
  if (members === null) return <>{texts.common.none}</>;
  const { user_name, ...others } = members;
  return Object.entries(others).map(([name, value]) => (
    <div key={name}>
      <span class="aside">{name}</span>{' '}
      {name === 'user_id' ? (
        <Person id={String(value)} name={user_name as string | undefined} />
      ) : name.endsWith('_id') ? (
        <Id id={String(value)} />
      ) : (
        <bdi>
          <Long text={typeof value === 'string' ? value : JSON.stringify(value)} max={60} />
        </bdi>
      )}
    </div>
  ));
}
