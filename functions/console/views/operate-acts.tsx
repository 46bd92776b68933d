/** What operators do to a device and its batches: in dialogs that show first what comes of it. */

import { useState } from 'preact/hooks';
import { needsReason } from '../../device-modes.ts';
import type { DeviceMode, MaintenanceWindow } from '../../schemas/device-rules.ts';
import type { QueuedBatch } from '../../schemas/queued-batch.ts';
import { devicePath } from '../client/device-path.ts';
import type { Api } from '../client/public-api.ts';
import { useAction } from '../client/use-call.ts';
import { nameOf } from '../parts/batch-name.ts';
import { PreviewPart } from '../parts/preview-part.tsx';
import { usePreview } from '../parts/use-preview.ts';
import { Field } from '../ui/field.tsx';
import { Options, Question } from '../ui/form.tsx';
import { fromField, toField } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';

const { settings: words, queue: queueWords } = texts.operate;

/** A preview needs no reason, but the service wants one. It is not kept. */
const anyReason = '…';

interface ActProps {
  /** Batches whose names are known. */
  readonly queue: readonly QueuedBatch[];
  readonly close: () => void;
  readonly done: () => void;
}

interface DeviceActProps extends ActProps {
  readonly deviceType: string;
}

/** Sends the act, then closes. */
function useAct({ close, done }: Pick<ActProps, 'close' | 'done'>, path: string, body: object) {
  return useAction(async (api: Api) => {
    await api.call(path, { method: 'PATCH', body });
    done();
    close();
  });
}

interface ReasonProps {
  readonly hint: string;
  readonly isRequired: boolean;
  readonly faults: Parameters<typeof Field>[0]['faults'];
  readonly place?: readonly (string | number)[];
  readonly value: string;
  readonly set: (reason: string) => void;
}

function ReasonField({ hint, isRequired, faults = [], place = ['body', 'reason'], value, set }: ReasonProps) {
  return (
    <Field label={texts.common.reason} hint={hint} place={place} faults={faults} wide>
      <textarea
        required={isRequired}
        maxLength={512}
        rows={2}
        value={value}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </Field>
  );
}

/** Sets the mode. */
export function ModeQuestion({ mode, ...props }: DeviceActProps & { readonly mode: DeviceMode }) {
  const { deviceType, queue, close } = props;
  const [reason, setReason] = useState('');
  const path = devicePath(deviceType);
  const save = useAct(props, path, { mode, ...(reason !== '' && { reason }) });
  const body = { mode, ...(needsReason(mode) && { reason: anyReason }) };
  const previewed = usePreview({ path, method: 'PATCH', body });
  return (
    <Question title={words.modeTitles(words.acts[mode], deviceType)} action={save} close={close}>
      <p class="full">{words.modes[mode]}</p>
      <ReasonField
        hint={needsReason(mode) ? words.reasonHint : words.noReasonHint}
        isRequired={needsReason(mode)}
        faults={save.failure?.faults}
        value={reason}
        set={setReason}
      />
      <PreviewPart previewed={previewed} known={queue} />
    </Question>
  );
}

interface WindowProps extends DeviceActProps {
  readonly windows: readonly MaintenanceWindow[];
  /** The place of the window that is changed; undefined: a further one. */
  readonly at: number | undefined;
}

/** Adds a window, or changes one. All others stay. */
export function WindowQuestion({ windows, at, ...props }: WindowProps) {
  const { deviceType, queue, close } = props;
  const before = at === undefined ? undefined : windows[at];
  const [begins, setBegins] = useState(toField(before?.starts_at ?? ''));
  const [ends, setEnds] = useState(toField(before?.ends_at ?? ''));
  const [reason, setReason] = useState(before?.reason ?? '');
  // An unchanged time keeps its seconds, which the field does not show.
  const timeOf = (field: string, was = '') => (field === toField(was) ? was : fromField(field));
  const drawn = { starts_at: timeOf(begins, before?.starts_at), ends_at: timeOf(ends, before?.ends_at), reason };
  const place = at ?? windows.length;
  const withReason = (text: string) => ({ windows: windows.toSpliced(place, 1, { ...drawn, reason: text }) });
  const path = devicePath(deviceType);
  const save = useAct(props, path, withReason(reason));
  const faults = save.failure?.faults ?? [];
  const isTimed = drawn.starts_at !== '' && drawn.ends_at !== '';
  const previewed = usePreview(isTimed ? { path, method: 'PATCH', body: withReason(reason || anyReason) } : null);
  return (
    <Question title={before === undefined ? words.addWindow : words.changeWindow} action={save} close={close}>
      <p class="full">{words.windowsHint(deviceType)}</p>
      {(
        [
          ['starts_at', begins, setBegins],
          ['ends_at', ends, setEnds],
        ] as const
      ).map(([name, value, set]) => (
        <Field key={name} label={words.windowFields[name]} place={['body', 'windows', place, name]} faults={faults}>
          <input required type="datetime-local" value={value} onInput={(event) => set(event.currentTarget.value)} />
        </Field>
      ))}
      <ReasonField
        hint={words.reasonHint}
        isRequired
        faults={faults}
        place={['body', 'windows', place, 'reason']}
        value={reason}
        set={setReason}
      />
      <PreviewPart previewed={previewed} known={queue} />
    </Question>
  );
}

/** Takes a window away. */
export function RemoveWindowQuestion({ windows, at, ...props }: WindowProps & { readonly at: number }) {
  const body = { windows: windows.toSpliced(at, 1) };
  const path = devicePath(props.deviceType);
  const save = useAct(props, path, body);
  const previewed = usePreview({ path, method: 'PATCH', body });
  return (
    <Question title={words.removeWindow} action={save} isDangerous close={props.close}>
      <p class="full">
        <bdi>{windows[at]?.reason}</bdi>
      </p>
      <PreviewPart previewed={previewed} known={props.queue} />
    </Question>
  );
}

export const bounds = ['max_job_seconds', 'idle_seconds', 'max_batch_seconds'] as const;
type Bounds = Readonly<Record<(typeof bounds)[number], number | null>>;

/** Sets the bounds of time. An empty field is none. */
export function BoundsQuestion({ set, ...props }: DeviceActProps & { readonly set: Bounds }) {
  const [values, setValues] = useState(() => bounds.map((name) => String(set[name] ?? '')));
  const changed = bounds.flatMap((name, at) => {
    const text = values[at]!.trim();
    const value = text === '' ? null : Number.isNaN(Number(text)) ? text : Number(text);
    return value === set[name] ? [] : [[name, value] as const];
  });
  const body = Object.fromEntries(changed);
  const path = devicePath(props.deviceType);
  const save = useAct(props, path, body);
  const isSent = changed.length > 0;
  const previewed = usePreview(isSent ? { path, method: 'PATCH', body } : null);
  return (
    <Question title={words.setBounds} action={save} isIdle={!isSent} close={props.close}>
      <p class="full aside">{words.boundsHint}</p>
      {bounds.map((name, at) => (
        <Field
          key={name}
          label={words.boundFields[name]}
          place={['body', name]}
          faults={save.failure?.faults ?? []}
          wide
        >
          <input
            inputMode="numeric"
            placeholder={words.noBound}
            value={values[at]}
            onInput={(event) => setValues(values.with(at, event.currentTarget.value))}
          />
        </Field>
      ))}
      {isSent && <PreviewPart previewed={previewed} known={props.queue} />}
    </Question>
  );
}

type ActedBatch = Pick<QueuedBatch, 'id' | 'user_id' | 'queue_priority' | 'tags'> &
  Partial<Pick<QueuedBatch, 'user_name'>>;

interface BatchActProps extends ActProps {
  readonly batch: ActedBatch;
}

function batchPath({ user_id, id }: ActedBatch): string {
  return `/api/v1/users/${encodeURIComponent(user_id)}/batches/${id}`;
}

/** Sets the priority of a batch that waits. */
export function PriorityQuestion({ batch, ...props }: BatchActProps) {
  const [reason, setReason] = useState('');
  const [queue_priority, setPriority] = useState<string>(batch.queue_priority);
  const path = `${batchPath(batch)}/priority`;
  const send = useAct(props, path, { queue_priority, reason });
  const body = { queue_priority, reason: anyReason };
  const previewed = usePreview(queue_priority === batch.queue_priority ? null : { path, method: 'PATCH', body });
  const faults = send.failure?.faults ?? [];
  return (
    <Question title={queueWords.titles.priority} action={send} close={props.close}>
      <BatchName batch={batch} />
      <Field label={queueWords.newPriority} place={['body', 'queue_priority']} faults={faults}>
        <select value={queue_priority} onChange={(event) => setPriority(event.currentTarget.value)}>
          <Options of={texts.priorities} />
        </select>
      </Field>
      <ReasonField hint={queueWords.reasonHint} isRequired faults={faults} value={reason} set={setReason} />
      <PreviewPart previewed={previewed} known={props.queue} />
    </Question>
  );
}

/** Cancels a batch. */
export function CancelQuestion({ batch, ...props }: BatchActProps) {
  const [reason, setReason] = useState('');
  const send = useAct(props, `${batchPath(batch)}/cancel`, { reason });
  return (
    <Question title={queueWords.titles.cancel} action={send} isDangerous close={props.close}>
      <BatchName batch={batch} />
      <ReasonField
        hint={queueWords.reasonHint}
        isRequired
        faults={send.failure?.faults}
        value={reason}
        set={setReason}
      />
    </Question>
  );
}

function BatchName({ batch }: { readonly batch: ActedBatch }) {
  return (
    <p class="full">
      <bdi>{nameOf(batch)}</bdi> {texts.batch.by} <bdi>{batch.user_name ?? batch.user_id}</bdi> ·{' '}
      <code>{batch.id}</code>
    </p>
  );
}
