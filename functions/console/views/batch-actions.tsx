import { useState } from 'preact/hooks';
import type { RowRight } from '../../project-roles.ts';
import type { ReadBatch } from '../../schemas/batch.ts';
import { finalBatchStatuses } from '../../statuses.ts';
import type { Api } from '../client/public-api.ts';
import { useAction } from '../client/use-call.ts';
import { nameOf } from '../parts/batch-name.ts';
import { go, linkTo } from '../ui/address.ts';
import { Answers, Dialog, Failure } from '../ui/basics.tsx';
import { Icon } from '../ui/icon.tsx';
import { texts } from '../ui/texts.ts';

const { batch: words } = texts;

interface Props {
  readonly batch: ReadBatch;
  readonly reload: () => void;
}

/** What its dialogs ask. */
type Question = 'close' | 'cancel' | 'rebatch' | 'tags' | 'erase';

/** What can be done to a batch, as its state and the rights of its reader allow it. */
export function BatchActions({ batch, reload }: Props) {
  const [question, setQuestion] = useState<Question>();
  const isFinal = finalBatchStatuses.includes(batch.status);
  const isErased = batch.erased_at !== null;
  const offered: readonly (readonly [Question, RowRight, boolean])[] = [
    ['close', 'end', batch.open && !isFinal],
    ['rebatch', 'repeat', !batch.open && !isErased],
    ['tags', 'change', !isErased],
    ['cancel', 'end', !isFinal],
    ['erase', 'change', isFinal && !isErased],
  ];
  const close = () => setQuestion(undefined);
  const done = () => {
    close();
    reload();
  };
  return (
    <div class="actions">
      {batch.open && !isFinal && batch.rights.includes('change') && (
        <a class="button" href={linkTo(['add', batch.id])}>
          <Icon name="plus" />
          {texts.addJobs.title}
        </a>
      )}
      {offered.map(
        ([name, right, isOffered]) =>
          isOffered &&
          batch.rights.includes(right) && (
            <button
              key={name}
              type="button"
              class={name === 'cancel' || name === 'erase' ? 'danger' : undefined}
              onClick={() => setQuestion(name)}
            >
              {words.actions[name]}
            </button>
          ),
      )}
      {question === 'rebatch' && <Rebatch batch={batch} close={close} />}
      {question === 'tags' && <EditTags batch={batch} close={close} done={done} />}
      {(question === 'close' || question === 'cancel' || question === 'erase') && (
        <Confirm key={question} batch={batch} question={question} close={close} done={done} />
      )}
    </div>
  );
}

interface DialogProps {
  readonly batch: ReadBatch;
  readonly close: () => void;
}

export const changes = {
  close: { method: 'PATCH', path: (id: string) => `/api/v2/batches/${id}/complete` },
  cancel: { method: 'PATCH', path: (id: string) => `/api/v2/batches/${id}/cancel` },
  erase: { method: 'DELETE', path: (id: string) => `/api/v1/batches/${id}` },
} as const;

/** A question before what cannot be undone. */
function Confirm({
  batch,
  question,
  close,
  done,
}: DialogProps & { readonly question: keyof typeof changes; readonly done: () => void }) {
  const { method, path } = changes[question];
  const change = useAction(async (api: Api) => {
    await api.call(path(batch.id), { method });
    done();
  });
  return (
    <Dialog title={words.actions[question]} close={close}>
      {question === 'erase' && (
        <p>
          <strong>{words.whatIsErased(nameOf(batch), batch.jobs_count)}</strong>
        </p>
      )}
      <p>{words.questions[question]}</p>
      <Failure failure={change.failure} />
      <Answers
        label={words.actions[question]}
        isDanger={question !== 'close'}
        isRunning={change.isRunning}
        run={change.run}
        close={close}
      />
    </Dialog>
  );
}

/** Runs jobs again, in a new batch, and shows it. */
function Rebatch({ batch, close }: DialogProps) {
  const [status, setStatus] = useState('');
  // A call that got no answer may be repeated: it makes no second batch.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const rebatch = useAction(async (api: Api) => {
    const path = `/api/v1/batches/${batch.id}/rebatch`;
    const { data } = await api.call<{ id: string }>(path, {
      method: 'POST',
      query: { status },
      idempotencyKey: `${idempotencyKey}${status}`,
    });
    close();
    go(linkTo(['batch', data.id]));
  });
  return (
    <Dialog title={words.actions.rebatch} close={close}>
      <p>{words.questions.rebatch}</p>
      <label>
        {words.which}
        <select value={status} onChange={({ currentTarget }) => setStatus(currentTarget.value)}>
          <option value="">{words.allJobs}</option>
          {Object.entries(batch.jobs_count_per_status).map(
            ([each, count]) => count > 0 && <option key={each}>{each}</option>,
          )}
        </select>
      </label>
      <Failure failure={rebatch.failure} />
      <Answers label={words.actions.rebatch} isRunning={rebatch.isRunning} run={rebatch.run} close={close} />
    </Dialog>
  );
}

function EditTags({ batch, close, done }: DialogProps & { readonly done: () => void }) {
  const [text, setText] = useState(batch.tags.join('\n'));
  const save = useAction(async (api: Api) => {
    const body = text.split('\n').filter((line) => line.trim() !== '');
    await api.call(`/api/v1/batches/${batch.id}/tags`, { method: 'PATCH', body });
    done();
  });
  return (
    <Dialog title={words.actions.tags} close={close}>
      <label>
        {words.tagLines}
        <textarea rows={6} dir="auto" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </label>
      <p class="aside">{words.nameHint}</p>
      <Failure failure={save.failure} />
      <Answers label={words.save} isRunning={save.isRunning} run={save.run} close={close} />
    </Dialog>
  );
}
