import { useRef, useState } from 'preact/hooks';
import { deviceModeNames, needsReason } from '../../device-modes.ts';
import type { Device, OperatedDevice } from '../../schemas/device.ts';
import type { DeviceMode, MaintenanceWindow } from '../../schemas/device-rules.ts';
import type { Api } from '../client/public-api.ts';
import { type Action, useAction, useCall } from '../client/use-call.ts';
import { linkTo } from '../ui/address.ts';
import { Empty, Facts, Failure, Shown } from '../ui/basics.tsx';
import { Field } from '../ui/field.tsx';
import { Options, onSubmit } from '../ui/form.tsx';
import { formatSeconds, fromField, toField } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { DeviceState, oneDevice } from './devices-view.tsx';

const { settings: words } = texts.operate;

/** What devices were last set to, in this tab. */
const lastSet = new Map<string, { readonly device: OperatedDevice; readonly at: number }>();
/** The list of devices may be 10 s old: it must not bring back windows of before. */
const listMilliseconds = 15_000;

function recentlySet(deviceType: string): OperatedDevice | undefined {
  const last = lastSet.get(deviceType);
  return last !== undefined && Date.now() - last.at < listMilliseconds ? last.device : undefined;
}

/** Sets a device: its mode, its windows and its bounds of time. */
export function DevicePart({ deviceType }: { readonly deviceType: string }) {
  const list = useCall<Device[]>('/api/v1/devices', { query: oneDevice(deviceType) });
  const [answered, setAnswered] = useState(() => recentlySet(deviceType));
  const keep = (device: OperatedDevice) => {
    lastSet.set(deviceType, { device, at: Date.now() });
    setAnswered(device);
  };
  const props = { deviceType, answered: keep };
  return (
    <>
      <div class="title">
        <h2>
          <bdi>{deviceType}</bdi>
        </h2>
        <a href={linkTo(['operate', 'queue', deviceType])}>{words.queue}</a>
      </div>
      <Shown loaded={list}>
        {([listed]) => {
          const device = answered ?? listed;
          return (
            <>
              {device === undefined ? (
                <Empty>{words.unknown}</Empty>
              ) : (
                <div class="card">
                  <DeviceState device={device} />
                </div>
              )}
              <ModeForm {...props} mode={device?.mode ?? 'OPEN'} />
              <WindowsForm {...props} windows={device?.windows ?? []} />
              <BoundsForm {...props} set={answered} />
            </>
          );
        }}
      </Shown>
    </>
  );
}

interface FormProps {
  readonly deviceType: string;
  readonly answered: (device: OperatedDevice) => void;
}

function useSetting({ deviceType, answered }: FormProps): Action<[object]> {
  return useAction(async (api: Api, body: object) => {
    const path = `/api/v1/devices/${encodeURIComponent(deviceType)}`;
    answered((await api.call<OperatedDevice>(path, { method: 'PATCH', body })).data);
  });
}

function ModeForm({ mode: current, ...props }: FormProps & { readonly mode: DeviceMode }) {
  const [mode, setMode] = useState(current);
  const [reason, setReason] = useState('');
  const save = useSetting(props);
  const faults = save.failure?.faults ?? [];
  const submit = () => {
    save.run({ mode, ...(reason !== '' && { reason }) });
  };
  return (
    <form class="card" onSubmit={onSubmit(submit)}>
      <h3>{words.mode}</h3>
      <div class="form">
        <Field label={words.mode} hint={words.modes[mode]} place={['body', 'mode']} faults={faults}>
          <select
            value={mode}
            onChange={(event) => setMode(deviceModeNames[event.currentTarget.selectedIndex] ?? mode)}
          >
            <Options of={deviceModeNames} />
          </select>
        </Field>
        <Field label={texts.common.reason} hint={words.reasonHint} place={['body', 'reason']} faults={faults}>
          <input
            maxLength={512}
            required={needsReason(mode)}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </Field>
        <Save action={save} />
      </div>
    </form>
  );
}

/** A window as the form holds it. */
interface WindowDraft extends MaintenanceWindow {
  readonly id: number;
}

function WindowsForm({ windows: current, ...props }: FormProps & { readonly windows: readonly MaintenanceWindow[] }) {
  const [windows, setWindows] = useState<readonly WindowDraft[]>(() =>
    current.map(({ starts_at, ends_at, reason }, id) => ({
      id,
      starts_at: toField(starts_at),
      ends_at: toField(ends_at),
      reason,
    })),
  );
  const save = useSetting(props);
  const faults = save.failure?.faults ?? [];
  const submit = () => {
    save.run({
      windows: windows.map(({ starts_at, ends_at, reason }) => ({
        starts_at: fromField(starts_at),
        ends_at: fromField(ends_at),
        reason,
      })),
    });
  };
  const adding = useRef<HTMLButtonElement>(null);
  const remove = (at: number) => {
    setWindows(windows.toSpliced(at, 1));
    // The button that had the focus goes.
    adding.current?.focus();
  };
  const add = () => {
    const id = Math.max(0, ...windows.map((each) => each.id)) + 1;
    setWindows([...windows, { id, starts_at: '', ends_at: '', reason: '' }]);
  };
  return (
    <form class="card" onSubmit={onSubmit(submit)}>
      <h3>{words.windows}</h3>
      <p class="aside">{words.windowsHint}</p>
      {windows.map((window, at) => (
        <fieldset key={window.id}>
          <legend>
            {words.window} {at + 1}
          </legend>
          <div class="form">
            {(['starts_at', 'ends_at', 'reason'] as const).map((name) => (
              <Field key={name} label={words.windowFields[name]} place={['body', 'windows', at, name]} faults={faults}>
                <input
                  required
                  type={(name === 'reason' ? 'text' : 'datetime-local') as 'text'}
                  maxLength={512}
                  value={window[name]}
                  onInput={(event) => setWindows(windows.with(at, { ...window, [name]: event.currentTarget.value }))}
                />
              </Field>
            ))}
            <button type="button" class="low" onClick={() => remove(at)}>
              {words.removeWindow} {at + 1}
            </button>
          </div>
        </fieldset>
      ))}
      <div class="form">
        <div class="actions">
          <button type="button" ref={adding} onClick={add}>
            {words.addWindow}
          </button>
        </div>
        <Save action={save} />
      </div>
    </form>
  );
}

const bounds = ['max_job_seconds', 'idle_seconds', 'max_batch_seconds'] as const;

/** No call reads the bounds: they are shown once a change was answered. */
function BoundsForm({ set, ...props }: FormProps & { readonly set: OperatedDevice | undefined }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const save = useSetting(props);
  const faults = save.failure?.faults ?? [];
  const given = bounds.filter((name) => (values[name] ?? '') !== '');
  const submit = () => {
    save.run(Object.fromEntries(given.map((name) => [name, boundOf(values[name] ?? '')])));
  };
  return (
    <form class="card" onSubmit={onSubmit(submit)}>
      <h3>{words.bounds}</h3>
      <p class="aside">{words.boundsHint}</p>
      {set !== undefined && (
        <Facts
          facts={bounds.map((name) => {
            const seconds = set[name];
            return [words.boundFields[name], seconds === null ? words.noBound : formatSeconds(seconds)] as const;
          })}
        />
      )}
      <div class="form">
        {bounds.map((name) => (
          <Field key={name} label={words.boundFields[name]} place={['body', name]} faults={faults}>
            <input
              placeholder={words.asItIs}
              value={values[name] ?? ''}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          </Field>
        ))}
        <Save action={save} isIdle={given.length === 0} />
      </div>
    </form>
  );
}

/** A number, or none. Any other text is sent as it is, for the service to refuse in its words. */
function boundOf(text: string): number | string | null {
  if (text.trim().toLowerCase() === texts.limits.noneWord) return null;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

function Save({ action, isIdle = false }: { readonly action: Action<[object]>; readonly isIdle?: boolean }) {
  return (
    <>
      {action.failure !== undefined && (
        <div class="full">
          <Failure failure={action.failure} />
        </div>
      )}
      <div class="actions">
        <button type="submit" class="main" disabled={action.isRunning || isIdle}>
          {words.save}
        </button>
      </div>
    </>
  );
}
