import { useState } from 'preact/hooks';
import { deviceModeNames, deviceModes, needsReason } from '../../device-modes.ts';
import type { Act } from '../../schemas/audit.ts';
import type { DeviceMode } from '../../schemas/device-rules.ts';
import type { QueuedBatch } from '../../schemas/queued-batch.ts';
import type { WatchedDevice } from '../../schemas/watched-device.ts';
import { devicePath } from '../client/device-path.ts';
import { type Loaded, useCall } from '../client/use-call.ts';
import { CalibrationHistory } from '../parts/calibration-history.tsx';
import { DayFigures, useDay } from '../parts/day-figures.tsx';
import { measuredOf } from '../parts/device-day.ts';
import { linkTo, useAddress } from '../ui/address.ts';
import { Empty, Failure, Time } from '../ui/basics.tsx';
import { Crumbs } from '../ui/crumbs.tsx';
import { formatAgo, formatCount, formatPercent, formatSeconds, formatSpan } from '../ui/format.ts';
import { Popover } from '../ui/popover.tsx';
import { RowMenu } from '../ui/row-menu.tsx';
import { Status, StatusSign } from '../ui/status.tsx';
import { texts } from '../ui/texts.ts';
import {
  BoundsQuestion,
  bounds,
  CancelQuestion,
  ModeQuestion,
  PriorityQuestion,
  RemoveWindowQuestion,
  WindowQuestion,
} from './operate-acts.tsx';
import { type QueueAct, QueuePart, queuePageSize } from './operate-queue.tsx';
import { WorkersPart } from './operate-workers.tsx';

const { settings: words } = texts.operate;

/** Seconds between two looks at the device and its queue. */
const lookSeconds = 10;

/** What is asked in a dialog. */
type Asked =
  | { readonly act: 'mode'; readonly mode: DeviceMode }
  | { readonly act: 'window'; readonly at: number | undefined }
  | { readonly act: 'removeWindow'; readonly at: number }
  | { readonly act: 'bounds' }
  | { readonly act: QueueAct; readonly batch: QueuedBatch };

/** One device: what it does, its workers, its day, its queue, and what operators set. */
export function DevicePart({ deviceType }: { readonly deviceType: string }) {
  const offset = Number(useAddress().query.get('offset') ?? 0);
  const [asked, setAsked] = useState<Asked>();
  const device = useCall<WatchedDevice>(devicePath(deviceType), { again: () => lookSeconds });
  const list = useCall<QueuedBatch[]>(devicePath(deviceType, '/queue'), {
    query: { limit: queuePageSize, offset },
    keepsAnswer: true,
    again: () => lookSeconds,
  });
  const day = useDay(deviceType);
  const changes = useCall<Act[]>('/api/v1/audit', {
    query: { action: 'device.set', device_type: deviceType, limit: 20 },
  });
  const isUnknown = device.failure?.status === 404;
  const found = isUnknown ? undefined : device.answer?.data;
  const queue = list.answer?.data ?? [];
  const done = () => {
    for (const each of [device, list, changes]) each.reload();
  };
  return (
    <>
      <Crumbs links={[[texts.operate.parts.devices, linkTo(['operate'])]]}>{deviceType}</Crumbs>
      <Head {...{ deviceType, device: found, queue: list }} ask={(mode) => setAsked({ act: 'mode', mode })} />
      {isUnknown ? <Empty>{words.unknown}</Empty> : <Failure failure={device.failure} retry={device.reload} />}
      {found !== undefined && <State device={found} changes={changes.answer?.data} />}
      {found !== undefined && <Tiles device={found} queue={list} day={day} />}
      <div class="split">
        <DayFigures day={day} />
        <aside class="stack" aria-label={words.title(deviceType)}>
          {found !== undefined && <WorkersPart workers={found.workers} queue={queue} />}
          <Windows windows={found?.windows ?? []} ask={setAsked} />
          <Bounds device={found} ask={() => setAsked({ act: 'bounds' })} />
        </aside>
      </div>
      <QueuePart
        deviceType={deviceType}
        list={list}
        atWork={found?.batches_at_work}
        ask={(act, batch) => setAsked({ act, batch })}
      />
      <CalibrationHistory deviceType={deviceType} />
      {asked !== undefined && (
        <Dialogs asked={asked} {...{ deviceType, device: found, queue, done }} close={() => setAsked(undefined)} />
      )}
    </>
  );
}

interface DialogsProps {
  readonly asked: Asked;
  readonly deviceType: string;
  readonly device: WatchedDevice | undefined;
  readonly queue: readonly QueuedBatch[];
  readonly close: () => void;
  readonly done: () => void;
}

function Dialogs({ asked, device, ...props }: DialogsProps) {
  const windows = device?.windows ?? [];
  switch (asked.act) {
    case 'mode':
      return <ModeQuestion {...props} mode={asked.mode} />;
    case 'window':
      return <WindowQuestion {...props} windows={windows} at={asked.at} />;
    case 'removeWindow':
      return <RemoveWindowQuestion {...props} windows={windows} at={asked.at} />;
    case 'bounds':
      return <BoundsQuestion {...props} set={device ?? noBounds} />;
    case 'priority':
      return <PriorityQuestion {...props} batch={asked.batch} />;
    case 'cancel':
      return <CancelQuestion {...props} batch={asked.batch} />;
  }
}

const noBounds = { max_job_seconds: null, idle_seconds: null, max_batch_seconds: null };

interface HeadProps {
  readonly deviceType: string;
  readonly device: WatchedDevice | undefined;
  readonly queue: Loaded<QueuedBatch[]>;
  readonly ask: (mode: DeviceMode) => void;
}

/** The name, the mode, and the modes that it may get: the strictest ones further away. */
function Head({ deviceType, device, queue, ask }: HeadProps) {
  const others = deviceModeNames.filter((mode) => mode !== device?.mode);
  const near = others.filter((mode) => deviceModes[mode].accepts);
  const far = others.filter((mode) => !deviceModes[mode].accepts);
  const waiting = Math.max(0, (queue.answer?.pagination?.total ?? 0) - (device?.batches_at_work ?? 0));
  return (
    <div class="head">
      <h1>
        <bdi>{deviceType}</bdi>
      </h1>
      {device !== undefined && <Status status={device.mode} pill />}
      {device !== undefined && <span class="aside">{atWorkText(device, waiting)}</span>}
      <div class="bar push">
        {near.map((mode) => (
          <button key={mode} type="button" onClick={() => ask(mode)}>
            <StatusSign status={mode} />
            {words.acts[mode]}
          </button>
        ))}
        <Popover menu button={words.more}>
          <div class="stack">
            {far.map((mode) => (
              <button key={mode} type="button" class="quiet" onClick={() => ask(mode)}>
                {words.modeTitles(words.acts[mode], deviceType)}
              </button>
            ))}
          </div>
        </Popover>
      </div>
    </div>
  );
}

/** `2 batches at work, 8 wait`; while it takes no further ones, what is left. */
function atWorkText({ mode, batches_at_work: count }: WatchedDevice, waiting: number): string {
  const { claims, goesOn } = deviceModes[mode];
  if (claims) return words.atWork(count, waiting);
  if (count === 0) return words.empty(waiting);
  return goesOn ? words.thenEmpty(count, waiting) : words.atWork(count, waiting);
}

/** Why it does not work as usual, since when, and who set it. */
function State({ device, changes }: { readonly device: WatchedDevice; readonly changes: readonly Act[] | undefined }) {
  const { mode, status, status_message, available_at } = device;
  const change = changes?.find(({ before, after }) => after?.mode === mode && before?.mode !== mode);
  if (!needsReason(mode) && status === 'UP' && status_message === null) return null;
  return (
    <div class="notice">
      {status_message !== null && (
        <p>
          <strong>
            <bdi>{status_message}</bdi>
          </strong>
        </p>
      )}
      <p class="aside">
        {needsReason(mode) && `${words.modes[mode]} `}
        {needsReason(mode) && change !== undefined && (
          <>
            {words.since} <Time time={change.at} /> {texts.batch.by}{' '}
            <bdi>{change.operator_name ?? change.operator}</bdi>.{' '}
          </>
        )}
        {available_at !== null && (
          <>
            {texts.devices.availableAt}: <Time time={available_at} />.{' '}
          </>
        )}
        {status !== 'UP' && (
          <>
            {texts.devices.reports} <bdi>{status}</bdi>.
          </>
        )}
      </p>
    </div>
  );
}

interface TilesProps {
  readonly device: WatchedDevice;
  readonly queue: Loaded<QueuedBatch[]>;
  readonly day: ReturnType<typeof useDay>;
}

/** The queue, its wait and the day, at a glance. */
function Tiles({ device, queue, day }: TilesProps) {
  const { tiles } = words;
  const total = queue.answer?.pagination?.total;
  const measured = day.answer && measuredOf(day.answer.data.minutes, day.answer.data.step);
  const facts = [
    total === undefined ? undefined : [tiles.queue, texts.devices.batches(formatCount(total)), ''],
    device.average_queue_time === null
      ? undefined
      : [tiles.wait, formatSeconds(device.average_queue_time), tiles.waitOf],
    measured && [
      tiles.busy,
      formatPercent(measured.busyShare),
      tiles.busyFor(formatSeconds(measured.busySeconds), formatSeconds(measured.seconds)),
    ],
    measured && [tiles.started, formatCount(measured.started), tiles.longest(formatCount(measured.longest))],
  ].filter((each) => each !== undefined);
  return (
    <dl class="tiles">
      {facts.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {more !== '' && <dd class="aside">{more}</dd>}
        </div>
      ))}
    </dl>
  );
}

function Windows({
  windows,
  ask,
}: {
  readonly windows: WatchedDevice['windows'];
  readonly ask: (asked: Asked) => void;
}) {
  return (
    <section class="card">
      <div class="bar">
        <h2>{words.windows}</h2>
        <button type="button" class="tiny push" onClick={() => ask({ act: 'window', at: undefined })}>
          {words.addWindow}
        </button>
      </div>
      {windows.length === 0 && <p class="aside">{words.noWindows}</p>}
      <ul class="lines">
        {windows.map(({ starts_at, ends_at, reason }, at) => (
          <li key={starts_at}>
            <svg class="sign" viewBox="0 0 12 12" aria-hidden="true">
              <path d="M4 2.5v7M8 2.5v7" />
            </svg>
            <div>
              <span class="strong">{formatSpan(starts_at, ends_at)}</span>
              <span class="aside">
                <bdi>{reason}</bdi> · {formatAgo(starts_at)}
              </span>
            </div>
            <RowMenu
              label={words.windowMenu(formatSpan(starts_at, ends_at))}
              items={[
                { text: words.changeWindow, run: () => ask({ act: 'window', at }) },
                { text: words.removeWindow, isDanger: true, run: () => ask({ act: 'removeWindow', at }) },
              ]}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Bounds of time, as they are set. */
function Bounds({ device, ask }: { readonly device: WatchedDevice | undefined; readonly ask: () => void }) {
  return (
    <section class="card">
      <div class="bar">
        <h2>{words.bounds}</h2>
        <button type="button" class="tiny push" onClick={ask}>
          {words.setBounds}
        </button>
      </div>
      <dl class="sides">
        {bounds.map((name) => {
          const seconds = device?.[name] ?? null;
          return (
            <div key={name}>
              <dt>{words.boundFields[name]}</dt>
              <dd>{seconds === null ? words.noBound : formatSeconds(seconds)}</dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}
