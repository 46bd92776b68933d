/** What operators do. The service refuses it to all others. */

import { useEffect } from 'preact/hooks';
import { needsReason } from '../../device-modes.ts';
import type { Device } from '../../schemas/device.ts';
import type { DeviceMinutes } from '../../schemas/device-minutes.ts';
import type { WatchedDevice } from '../../schemas/watched-device.ts';
import { devicePath } from '../client/device-path.ts';
import { useCall } from '../client/use-call.ts';
import { measuredOf } from '../parts/device-day.ts';
import { UsageFigures } from '../parts/usage-figures.tsx';
import { go, linkTo, useAddress } from '../ui/address.ts';
import { Empty, Shown } from '../ui/basics.tsx';
import { NameForm } from '../ui/form.tsx';
import { formatCount, formatPercent, formatSeconds } from '../ui/format.ts';
import { useRowKeys } from '../ui/keys.ts';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { AuditPart } from './operate-audit.tsx';
import { BatchPart } from './operate-batch.tsx';
import { CommandsPart } from './operate-commands.tsx';
import { DevicePart } from './operate-device.tsx';
import { LimitsPart } from './operate-limits.tsx';
import { isSilent } from './silent-worker.ts';

const { operate: words } = texts;

/** Parts with a title of their own above them. */
const titled = { limits: LimitsPart, usage: () => <UsageFigures scope="all" />, audit: AuditPart } as const;

export function OperateView() {
  const {
    path: [, part = 'devices', named, batchId],
    query,
  } = useAddress();
  // An address from when the queue had a page of its own.
  const isOld = part === 'queue' && named !== undefined;
  useEffect(() => {
    if (isOld) location.replace(linkTo(['operate', 'device', named], { offset: query.get('offset') ?? undefined }));
  }, [isOld]);
  if (isOld) return null;
  if (Object.hasOwn(titled, part)) {
    const name = part as keyof typeof titled;
    const Part = titled[name];
    return (
      <>
        <div class="head">
          <h1>{words.parts[name]}</h1>
        </div>
        <Part />
      </>
    );
  }
  if (part === 'batch' && named !== undefined && batchId !== undefined) {
    return <BatchPart key={batchId} userId={named} batchId={batchId} />;
  }
  if (part === 'device' && named !== undefined) return <DevicePart key={named} deviceType={named} />;
  return <DevicesPart />;
}

/** Seconds between two looks at the machines. */
const lookSeconds = 15;

const columns: readonly Column<Device>[] = [
  [
    words.columns.device,
    ({ device_type, status_message }) => (
      <span class="name">
        <a href={linkTo(['operate', 'device', device_type])}>
          <bdi>{device_type}</bdi>
        </a>
        {status_message !== null && <bdi class="aside">{status_message}</bdi>}
      </span>
    ),
    'fill at-name',
  ],
  [
    words.columns.state,
    ({ mode, availability }) => <Status status={needsReason(mode) ? mode : availability} />,
    'at-status',
  ],
  [
    words.columns.queue,
    ({ queue_length }) =>
      texts.devices.batches(queue_length === null ? texts.devices.longQueue : formatCount(queue_length)),
    'number at-jobs',
  ],
  [words.columns.workers, ({ device_type }) => <Workers deviceType={device_type} />, 'number at-more'],
  [words.columns.busy, ({ device_type }) => <Busy deviceType={device_type} />, 'number at-when'],
  [
    words.columns.wait,
    ({ average_queue_time }) => average_queue_time !== null && formatSeconds(average_queue_time),
    'number',
  ],
];

/** How many workers were seen in the last 24 hours, and how many of them are silent now. */
function Workers({ deviceType }: { readonly deviceType: string }) {
  const { answer } = useCall<WatchedDevice>(devicePath(deviceType), { again: () => lookSeconds });
  if (answer === undefined) return null;
  const { workers } = answer.data;
  const silent = workers.filter((worker) => isSilent(worker, Date.now())).length;
  return (
    <span class={silent > 0 ? 'failures' : undefined}>
      {words.workersSeen(workers.length - silent, workers.length)}
    </span>
  );
}

/** The share of the last 24 hours in which a machine was at work. */
function Busy({ deviceType }: { readonly deviceType: string }) {
  const { answer } = useCall<DeviceMinutes>(devicePath(deviceType, '/minutes'), {
    query: { step: 3_600 },
    again: () => 300,
  });
  const measured = answer && measuredOf(answer.data.minutes, answer.data.step);
  if (measured === undefined) return null;
  return (
    <span class="progress">
      <svg class="segments" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="f2" width={measured.busyShare * 100} height="6" />
      </svg>
      {formatPercent(measured.busyShare)}
    </span>
  );
}

/** All machines, retired ones too. */
function DevicesPart() {
  const list = useCall<Device[]>('/api/v1/devices', {
    query: { availability: ['ACTIVE', 'INACTIVE', 'RETIRED'] },
    again: () => lookSeconds,
  });
  useRowKeys();
  return (
    <>
      <div class="head">
        <h1>{words.parts.devices}</h1>
      </div>
      <Shown loaded={list}>
        {(devices) =>
          devices.length === 0 ? (
            <Empty>{words.none}</Empty>
          ) : (
            <Table
              label={words.parts.devices}
              kind="rows cards-below"
              columns={columns}
              rows={devices}
              keyOf={(device) => device.device_type}
            />
          )
        }
      </Shown>
      {/* A machine may be set before it announces itself. */}
      <NameForm label={words.other} button={words.set} submit={(name) => go(linkTo(['operate', 'device', name]))} />
      <CommandsPart />
    </>
  );
}
