import { useContext, useState } from 'preact/hooks';
import { type LimitName, limitNames, limits } from '../../limits.ts';
import type { SubjectLimits } from '../../schemas/limits.ts';
import type { Api } from '../client/public-api.ts';
import { useAction, useCall } from '../client/use-call.ts';
import { KnownDevices } from '../parts/known-devices.ts';
import { KnownOptions } from '../parts/known-options.tsx';
import { nameAmong, useKnownPeople } from '../parts/known-people.ts';
import { LimitBars } from '../parts/limit-bars.tsx';
import { PreviewPart } from '../parts/preview-part.tsx';
import { useProjects } from '../parts/projects.ts';
import { type Previewed, usePreview } from '../parts/use-preview.ts';
import { go, linkTo, useAddress } from '../ui/address.ts';
import { Empty, Failure, type Named, Shown, Time } from '../ui/basics.tsx';
import { Field } from '../ui/field.tsx';
import { Options, onSubmit, Question } from '../ui/form.tsx';
import { Pager } from '../ui/pager.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { limitPhrase, limitsOf, limitText, projectOf, userOf } from './limits-form.ts';

const { limits: words } = texts.operate;

const pageSize = 50;

const pathOf = (subject: string) => `/api/v1/limits/${encodeURIComponent(subject)}`;
const linkToLimits = (query: Record<string, string | undefined> = {}) => linkTo(['operate', 'limits'], query);

/** All limits; of the subject that the address names, a form. */
export function LimitsPart() {
  const { query } = useAddress();
  const subject = query.get('subject');
  if (subject !== null) return <SubjectForm key={subject} subject={subject} />;
  return <LimitsList offset={Number(query.get('offset') ?? 0)} />;
}

function LimitsList({ offset }: { readonly offset: number }) {
  const list = useCall<SubjectLimits[]>('/api/v1/limits/all', { query: { limit: pageSize, offset } });
  const [removed, setRemoved] = useState<string>();
  const link = (to: number) => linkToLimits({ offset: to === 0 ? undefined : String(to) });
  return (
    <>
      <Shown loaded={list}>
        {(subjects) =>
          subjects.length === 0 ? (
            <Empty>
              <p>{words.none}</p>
              <a href={linkToLimits({ subject: 'default' })}>{words.setDefault}</a>
            </Empty>
          ) : (
            <Table
              label={words.title}
              columns={columnsFor(setRemoved)}
              rows={subjects}
              keyOf={({ subject }) => subject}
            />
          )
        }
      </Shown>
      <Pager pagination={list.answer?.pagination} limit={pageSize} linkTo={link} />
      <SubjectChoice />
      {removed !== undefined && (
        <RemoveQuestion subject={removed} close={() => setRemoved(undefined)} done={list.reload} />
      )}
    </>
  );
}

function columnsFor(remove: (subject: string) => void): readonly Column<SubjectLimits>[] {
  const { columns } = words;
  return [
    [
      columns.subject,
      ({ subject, user_name }: Named<SubjectLimits>) => (
        <a href={linkToLimits({ subject })} title={subject}>
          <SubjectName subject={subject} name={user_name} />
        </a>
      ),
      'text',
    ],
    [columns.limits, ({ limits }) => describe(limits), 'text'],
    [columns.set, ({ updated_at }) => <Time time={updated_at} />],
    [
      columns.actions,
      ({ subject }) => (
        <button
          type="button"
          class="danger"
          aria-label={`${words.removeOf} ${subject}`}
          onClick={() => remove(subject)}
        >
          {words.remove}
        </button>
      ),
    ],
  ];
}

function describe(limits: SubjectLimits['limits']): string {
  const set = limitNames.filter((name) => limits[name] !== undefined);
  return set.map((name) => limitPhrase(name, limits[name])).join('; ');
}

/** Whose limits: everyone, or someone whose name is known. */
function SubjectName({ subject, name }: { readonly subject: string; readonly name?: string | null | undefined }) {
  const projects = useProjects();
  const [user, project] = [userOf(subject), projectOf(subject)];
  if (user !== undefined) return <bdi>{name ?? user}</bdi>;
  if (project === undefined) return words.kinds.default;
  return (
    <>
      {words.project} <bdi>{projects.find(({ id }) => id === project)?.name ?? project}</bdi>
    </>
  );
}

const kinds = ['default', 'user', 'project'] as const;

/** Leads to the limits of everyone, of a user, or of a project, by their names. */
function SubjectChoice() {
  const { users, projects } = useKnownPeople();
  const [kind, setKind] = useState<(typeof kinds)[number]>('default');
  const [chosen, setChosen] = useState('');
  const known = kind === 'user' ? users : projects;
  // The first is chosen until another one is.
  const id = chosen === '' ? (known[0]?.id ?? another) : chosen;
  const submit = (form: HTMLFormElement) => {
    const typed = String(new FormData(form).get('id') ?? '').trim();
    go(linkToLimits({ subject: kind === 'default' ? kind : `${kind}:${id === another ? typed : id}` }));
  };
  return (
    <form class="below actions" onSubmit={onSubmit(submit)}>
      <label>
        {words.of}
        <select
          value={kind}
          onChange={({ currentTarget }) => {
            setKind(kinds[currentTarget.selectedIndex]!);
            setChosen('');
          }}
        >
          {kinds.map((each) => (
            <option key={each} value={each}>
              {words.kinds[each]}
            </option>
          ))}
        </select>
      </label>
      {kind !== 'default' && (
        <label>
          {words.which[kind]}
          <select value={id} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
            <KnownOptions known={known} />
            <option value={another}>{words.another}</option>
          </select>
        </label>
      )}
      {kind !== 'default' && id === another && (
        <label>
          {words.id}
          <input name="id" required />
        </label>
      )}
      <button type="submit" class="low">
        {words.edit}
      </button>
    </form>
  );
}

/** No id: the person types one. */
const another = ' ';

function SubjectForm({ subject }: { readonly subject: string }) {
  const found = useCall<SubjectLimits>(pathOf(subject));
  const { users } = useKnownPeople();
  const user = userOf(subject);
  const isNew = found.failure?.status === 404;
  return (
    <>
      <h2>
        {words.of}{' '}
        <SubjectName
          subject={subject}
          name={found.answer?.data.user_name ?? (user === undefined ? undefined : nameAmong(users, user))}
        />
      </h2>
      {isNew ? (
        <LimitsForm subject={subject} limits={{}} />
      ) : (
        <Shown loaded={found}>{({ limits }) => <LimitsForm subject={subject} limits={limits} />}</Shown>
      )}
    </>
  );
}

/** What the limits would change is shown before they are saved. */
function LimitsForm({ subject, limits }: Pick<SubjectLimits, 'subject' | 'limits'>) {
  const [values, setValues] = useState<Partial<Record<LimitName, string>>>(() =>
    Object.fromEntries(limitNames.map((name) => [name, limitText(limits[name])])),
  );
  const act = { path: pathOf(subject), method: 'PUT', body: limitsOf(values) } as const;
  const previewed = usePreview(act);
  const save = useAction(async (api: Api) => {
    await api.call(act.path, act);
    go(linkToLimits());
  });
  const faults = (save.failure ?? previewed.failure)?.faults ?? [];
  return (
    <form class="card" onSubmit={onSubmit(() => save.run())}>
      <p class="aside">{subject.startsWith('user:') ? words.userHint : words.hint}</p>
      <div class="form">
        {limitNames.map((name) => (
          <Field
            key={name}
            label={texts.limits.labels[name]}
            hint={words.hints[name]}
            place={['body', name]}
            faults={faults}
          >
            <LimitInput
              name={name}
              value={values[name] ?? ''}
              change={(text) => setValues((before) => ({ ...before, [name]: text }))}
            />
          </Field>
        ))}
        <UnderLimits previewed={previewed} />
        <div class="full">
          <Failure failure={save.failure} />
        </div>
        <div class="actions">
          <button type="submit" class="main" disabled={save.isRunning}>
            {texts.operate.settings.save}
          </button>
          <a class="button" href={linkToLimits()}>
            {texts.common.cancel}
          </a>
        </div>
      </div>
    </form>
  );
}

interface InputProps {
  readonly name: LimitName;
  readonly value: string;
  readonly change: (text: string) => void;
}

/** A field for a limit; `Field` names it. A priority is chosen, and devices can be. */
function LimitInput({ name, value, change, ...field }: InputProps) {
  if (limits[name].kind !== 'priority') {
    return (
      <>
        <input {...field} value={value} onInput={({ currentTarget }) => change(currentTarget.value)} />
        {limits[name].kind === 'devices' && <DeviceChoice value={value} change={change} />}
      </>
    );
  }
  return (
    <select {...field} value={value} onChange={({ currentTarget }) => change(currentTarget.value)}>
      <option value="">{texts.limits.notSet}</option>
      <Options of={[texts.limits.noneWord, ...texts.priorities]} />
    </select>
  );
}

/** The known devices, to check: others can be typed. */
function DeviceChoice({ value, change }: Omit<InputProps, 'name'>) {
  const known = useContext(KnownDevices) ?? [];
  const { device_types: given } = limitsOf({ device_types: value });
  const chosen = Array.isArray(given) ? given : [];
  return (
    <div class="actions">
      {known.map(({ device_type: type }) => (
        <label key={type}>
          <input
            type="checkbox"
            checked={chosen.includes(type)}
            onChange={({ currentTarget }) => {
              const others = chosen.filter((each) => each !== type);
              change((currentTarget.checked ? [...others, type] : others).join(', '));
            }}
          />
          <bdi>{type}</bdi>
        </label>
      ))}
    </div>
  );
}

/** What is used and left under other limits, and what they do to batches. */
function UnderLimits({ previewed }: { readonly previewed: Previewed }) {
  const { limits: own = null, refuses_new = null } = previewed.preview ?? {};
  return (
    <>
      {own !== null && (
        <section class="full" aria-label={words.preview}>
          <h3>{words.preview}</h3>
          <LimitBars limits={own} />
          {refuses_new === false && <p>{words.accepts}</p>}
        </section>
      )}
      <PreviewPart previewed={previewed} />
    </>
  );
}

function RemoveQuestion({
  subject,
  close,
  done,
}: {
  readonly subject: string;
  readonly close: () => void;
  readonly done: () => void;
}) {
  const act = { path: pathOf(subject), method: 'DELETE' } as const;
  const previewed = usePreview(act);
  const remove = useAction(async (api: Api) => {
    await api.call(act.path, act);
    done();
    close();
  });
  return (
    <Question title={words.removeTitle} action={remove} isDangerous close={close}>
      <p class="full">
        <code>{subject}</code>
      </p>
      <UnderLimits previewed={previewed} />
    </Question>
  );
}
