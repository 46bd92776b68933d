import { useState } from 'preact/hooks';
import { type LimitName, limitNames } from '../../limits.ts';
import type { SubjectLimits } from '../../schemas/limits.ts';
import type { Api } from '../client/public-api.ts';
import { useAction, useCall } from '../client/use-call.ts';
import { go, linkTo, useAddress } from '../ui/address.ts';
import { Empty, Failure, type Named, Shown, Time } from '../ui/basics.tsx';
import { Field } from '../ui/field.tsx';
import { NameForm, onSubmit, Question } from '../ui/form.tsx';
import { Pager } from '../ui/pager.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { limitFacts, limitsOf, limitText } from './limits-form.ts';

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
      <NameForm label={words.subject} button={words.edit} submit={(subject) => go(linkToLimits({ subject }))} />
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
        <a href={linkToLimits({ subject })}>
          <bdi>{subject}</bdi>
          {user_name != null && (
            <>
              {' '}
              <bdi class="aside">{user_name}</bdi>
            </>
          )}
        </a>
      ),
      'text',
    ],
    [columns.limits, ({ limits }) => describe(limits), 'text'],
    [columns.set, ({ updated_at }) => <Time time={updated_at} />],
    [
      columns.actions,
      ({ subject }) => (
        <button type="button" class="danger" aria-label={`${words.remove} ${subject}`} onClick={() => remove(subject)}>
          {words.remove}
        </button>
      ),
    ],
  ];
}

function describe(limits: SubjectLimits['limits']): string {
  return limitFacts(limits)
    .map(([label, text]) => `${label}: ${text}`)
    .join('; ');
}

function SubjectForm({ subject }: { readonly subject: string }) {
  const found = useCall<SubjectLimits>(pathOf(subject));
  const isNew = found.failure?.status === 404;
  return (
    <>
      <h2>
        {words.of} <bdi>{subject}</bdi>
      </h2>
      {isNew ? (
        <LimitsForm subject={subject} limits={{}} />
      ) : (
        <Shown loaded={found}>{({ limits }) => <LimitsForm subject={subject} limits={limits} />}</Shown>
      )}
    </>
  );
}

function LimitsForm({ subject, limits }: Pick<SubjectLimits, 'subject' | 'limits'>) {
  const [values, setValues] = useState<Partial<Record<LimitName, string>>>(() =>
    Object.fromEntries(limitNames.map((name) => [name, limitText(limits[name])])),
  );
  const save = useAction(async (api: Api) => {
    await api.call(pathOf(subject), { method: 'PUT', body: limitsOf(values) });
    go(linkToLimits());
  });
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
            faults={save.failure?.faults ?? []}
          >
            <input
              value={values[name] ?? ''}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          </Field>
        ))}
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

function RemoveQuestion({
  subject,
  close,
  done,
}: {
  readonly subject: string;
  readonly close: () => void;
  readonly done: () => void;
}) {
  const remove = useAction(async (api: Api) => {
    await api.call(pathOf(subject), { method: 'DELETE' });
    done();
    close();
  });
  return (
    <Question title={words.removeTitle} action={remove} isDangerous close={close}>
      <p class="full">
        <bdi>{subject}</bdi>
      </p>
    </Question>
  );
}
