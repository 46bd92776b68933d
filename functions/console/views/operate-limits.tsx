import { useState } from 'preact/hooks';
import type { SubjectLimits } from '../../schemas/limits.ts';
import { go, linkTo, useAddress } from '../address.ts';
import type { Api } from '../api.ts';
import { type LimitName, limitLabels, limitNames, limitsOf, limitText } from '../limits-form.ts';
import { Dialog, Empty, Failure, Shown, Time, Wide } from '../parts/basics.tsx';
import { Field } from '../parts/field.tsx';
import { Pager } from '../parts/pager.tsx';
import { texts } from '../texts.ts';
import { useAction, useCall } from '../use-call.ts';

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
  return (
    <>
      <SubjectPicker />
      <Shown loaded={list}>
        {(subjects) =>
          subjects.length === 0 ? (
            <Empty>
              <p>{words.none}</p>
              <a href={linkToLimits({ subject: 'default' })}>{words.setDefault}</a>
            </Empty>
          ) : (
            <LimitsTable subjects={subjects} remove={setRemoved} />
          )
        }
      </Shown>
      {list.answer?.pagination !== undefined && (
        <Pager
          pagination={list.answer.pagination}
          limit={pageSize}
          linkTo={(to) => linkToLimits({ offset: to === 0 ? undefined : String(to) })}
        />
      )}
      {removed !== undefined && (
        <RemoveDialog subject={removed} close={() => setRemoved(undefined)} done={list.reload} />
      )}
    </>
  );
}

function LimitsTable({
  subjects,
  remove,
}: {
  readonly subjects: readonly SubjectLimits[];
  readonly remove: (subject: string) => void;
}) {
  return (
    <Wide label={words.title}>
      <table>
        <thead>
          <tr>
            {words.columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {subjects.map(({ subject, limits, updated_at }) => (
            <tr key={subject}>
              <td class="name" title={subject}>
                <a href={linkToLimits({ subject })}>
                  <bdi>{subject}</bdi>
                </a>
              </td>
              <td class="text">
                {limitNames
                  .filter((name) => limits[name] !== undefined)
                  .map((name) => `${limitLabels[name]}: ${limitText(limits[name]) || texts.limits.noDevice}`)
                  .join('; ')}
              </td>
              <td>
                <Time time={updated_at} />
              </td>
              <td>
                <button
                  type="button"
                  class="danger"
                  aria-label={`${words.remove} ${subject}`}
                  onClick={() => remove(subject)}
                >
                  {words.remove}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function SubjectPicker() {
  const [kind, setKind] = useState('user:');
  const [id, setId] = useState('');
  const isDefault = kind === 'default';
  return (
    <form
      class="card actions"
      onSubmit={(event) => {
        event.preventDefault();
        go(linkToLimits({ subject: isDefault ? kind : kind + id.trim() }));
      }}
    >
      <label>
        {words.subject}
        <select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
          {Object.entries(words.kinds).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {!isDefault && (
        <label>
          {words.id}
          <input required value={id} onInput={(event) => setId(event.currentTarget.value)} />
        </label>
      )}
      <button type="submit" class="low">
        {words.edit}
      </button>
    </form>
  );
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
  const faults = save.failure?.faults ?? [];
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        save.run();
      }}
    >
      <p class="aside">{subject.startsWith('user:') ? words.userHint : words.hint}</p>
      <div class="form">
        {limitNames.map((name) => (
          <Field
            key={name}
            label={limitLabels[name]}
            hint={words.hints[name as keyof typeof words.hints]}
            place={['body', name]}
            faults={faults}
          >
            <input
              list={name === 'highest_priority' ? 'priorities' : undefined}
              value={values[name] ?? ''}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          </Field>
        ))}
        <datalist id="priorities">
          {['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'FREE', texts.limits.noneWord].map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
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

function RemoveDialog({
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
    <Dialog title={words.removeTitle} close={close}>
      <p>
        <bdi>{subject}</bdi>
      </p>
      <Failure failure={remove.failure} />
      <div class="actions">
        <button type="button" class="danger" disabled={remove.isRunning} onClick={() => remove.run()}>
          {words.remove}
        </button>
        <button type="button" onClick={close}>
          {texts.common.cancel}
        </button>
      </div>
    </Dialog>
  );
}
