import { useContext } from 'preact/hooks';
import { type Loaded, useCall } from '../client/use-call.ts';
import { KnownDevices } from '../parts/known-devices.ts';
import { KnownOptions } from '../parts/known-options.tsx';
import { type Known, useKnownPeople } from '../parts/known-people.ts';
import { useProjects } from '../parts/projects.ts';
import { go, linkTo, useAddress } from '../ui/address.ts';
import { Empty, Person, Pre, Shown, Time } from '../ui/basics.tsx';
import { Field } from '../ui/field.tsx';
import { AddressForm } from '../ui/form.tsx';
import { fromField, toField } from '../ui/format.ts';
import { Pager } from '../ui/pager.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { type Context, type Entry, sentenceOf } from './act-sentence.ts';

const { audit: words } = texts.operate;

const path = ['operate', 'audit'];
const pageSize = 50;
const times = new Set(['from', 'to']);
const filters = Object.keys(words.filters) as (keyof typeof words.filters)[];
const actions = Object.entries(words.actions).map(([id, name]) => ({ id, name }));

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
      <Acts
        loaded={list}
        batchLink={({ user_id = '', batch_id = '' }) => linkTo(['operate', 'batch', user_id, batch_id])}
      />
      <Pager pagination={list.answer?.pagination} limit={pageSize} linkTo={link} />
    </>
  );
}

/** The latest acts in a project, for its administrators. */
export function ProjectActs({ projectId }: { readonly projectId: string }) {
  const list = useCall<Entry[]>('/api/v1/audit', { query: { project_id: projectId, limit: pageSize } });
  return <Acts loaded={list} batchLink={({ batch_id = '' }) => linkTo(['batch', batch_id])} />;
}

interface ActsProps extends Pick<Context, 'batchLink'> {
  readonly loaded: Loaded<Entry[]>;
}

function Acts({ loaded, batchLink }: ActsProps) {
  const projects = useProjects();
  const projectName = (id: string) => projects.find((each) => each.id === id)?.name;
  const columns: readonly Column<Entry>[] = [
    [words.columns.at, ({ at }) => <Time time={at} />],
    [words.columns.act, (act) => <Sentence act={act} context={{ projectName, batchLink }} />, 'text'],
    [
      words.columns.raw,
      (act) => (
        <details>
          <summary>{words.raw}</summary>
          <Pre text={JSON.stringify(act, null, 1)} />
        </details>
      ),
    ],
  ];
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

function Sentence({ act, context }: { readonly act: Entry; readonly context: Context }) {
  return (
    <>
      <Person id={act.operator} name={act.operator_name} />{' '}
      {sentenceOf(act, context).map((part, at) =>
        typeof part === 'string' ? (
          <bdi key={at}>{part}</bdi>
        ) : (
          <a key={at} href={part.link}>
            <bdi>{part.text}</bdi>
          </a>
        ),
      )}
    </>
  );
}

/** Who did something lately. */
function useOperators(): readonly Known[] {
  const acts = useCall<Entry[]>('/api/v1/audit', { query: { limit: 100 } }).answer?.data ?? [];
  return [...new Map(acts.map(({ operator: id, operator_name }) => [id, { id, name: operator_name ?? id }])).values()];
}

function AuditFilters({ query }: { readonly query: URLSearchParams }) {
  const { users, projects } = useKnownPeople();
  const devices = useContext(KnownDevices) ?? [];
  const choices: Readonly<Record<string, readonly Known[]>> = {
    operator: useOperators(),
    action: actions,
    user_id: users,
    project_id: projects,
    device_type: devices.map(({ device_type }) => ({ id: device_type, name: device_type })),
  };
  const apply = (form: HTMLFormElement) => {
    const values = Array.from(new FormData(form), ([name, value]) => {
      const text = String(value);
      return [name, times.has(name) ? fromField(text) : text];
    });
    go(linkTo(path, Object.fromEntries(values)));
  };
  // It is drawn again when there is more to choose from.
  const known = Object.values(choices).map(({ length }) => length);
  return (
    <AddressForm address={`${query} ${known}`} look="card form" apply={apply}>
      {filters.map((name) => {
        const value = query.get(name) ?? '';
        return (
          <Field key={name} label={words.filters[name]}>
            {times.has(name) ? (
              <input name={name} type="datetime-local" value={toField(value)} />
            ) : (
              <select name={name} value={value}>
                <option value="">{texts.batches.any}</option>
                <KnownOptions known={choices[name] ?? []} value={value} />
              </select>
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
