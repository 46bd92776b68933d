/** What operators do. The service refuses it to all others. */

import type { Device } from '../../schemas/device.ts';
import { useCall } from '../client/use-call.ts';
import { UsageFigures } from '../parts/usage-figures.tsx';
import { go, linkTo, useAddress } from '../ui/address.ts';
import { Shown } from '../ui/basics.tsx';
import { NameForm } from '../ui/form.tsx';
import { formatCount } from '../ui/format.ts';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { AuditPart } from './operate-audit.tsx';
import { BatchPart } from './operate-batch.tsx';
import { DevicePart } from './operate-device.tsx';
import { LimitsPart } from './operate-limits.tsx';
import { QueuePart } from './operate-queue.tsx';

const { operate: words } = texts;

const parts = ['devices', 'limits', 'usage', 'audit'] as const;

export function OperateView() {
  const {
    path: [, part = 'devices', named, batchId],
  } = useAddress();
  const shown = ['device', 'queue', 'batch'].includes(part) ? 'devices' : part;
  return (
    <>
      <div class="title">
        <h1>{texts.views.operate}</h1>
        <nav class="choice" aria-label={texts.views.operate}>
          {parts.map((name) => (
            <a key={name} href={linkTo(['operate', name])} aria-current={name === shown ? 'page' : undefined}>
              {words.parts[name]}
            </a>
          ))}
        </nav>
      </div>
      {part === 'limits' && <LimitsPart />}
      {part === 'usage' && <UsageFigures scope="all" />}
      {part === 'audit' && <AuditPart />}
      {part === 'queue' && named !== undefined && <QueuePart key={named} deviceType={named} />}
      {part === 'batch' && named !== undefined && batchId !== undefined && (
        <BatchPart key={batchId} userId={named} batchId={batchId} />
      )}
      {part === 'device' && named !== undefined && <DevicePart key={named} deviceType={named} />}
      {shown === 'devices' && named === undefined && <DevicesPart />}
    </>
  );
}

const columns: readonly Column<Device>[] = [
  [words.columns.device, ({ device_type }) => <bdi>{device_type}</bdi>, 'text'],
  [words.columns.availability, ({ availability }) => <Status status={availability} />],
  [words.columns.mode, ({ mode }) => <Status status={mode} />],
  [words.columns.reports, ({ status }) => <bdi>{status}</bdi>, 'text'],
  [
    words.columns.queue,
    ({ device_type, queue_length }) => (
      <a href={linkTo(['operate', 'queue', device_type])}>
        {texts.devices.batches(queue_length === null ? texts.devices.longQueue : formatCount(queue_length))}
      </a>
    ),
  ],
  [
    words.columns.settings,
    ({ device_type }) => (
      <a href={linkTo(['operate', 'device', device_type])} aria-label={`${words.set} ${device_type}`}>
        {words.set}
      </a>
    ),
  ],
  [words.columns.reason, ({ status_message }) => <bdi>{status_message}</bdi>, 'text'],
];

function DevicesPart() {
  const list = useCall<Device[]>('/api/v1/devices', {
    query: { availability: ['ACTIVE', 'INACTIVE', 'RETIRED'] },
    again: () => 15,
  });
  return (
    <>
      <Shown loaded={list}>
        {(devices) => (
          <Table label={words.parts.devices} columns={columns} rows={devices} keyOf={(device) => device.device_type} />
        )}
      </Shown>
      {/* A device may be set before it announces itself. */}
      <NameForm label={words.other} button={words.set} submit={(name) => go(linkTo(['operate', 'device', name]))} />
    </>
  );
}
