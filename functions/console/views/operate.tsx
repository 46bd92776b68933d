/** What operators do. The service refuses it to all others. */

import { useState } from 'preact/hooks';
import type { Device } from '../../schemas/device.ts';
import { go, linkTo, useAddress } from '../address.ts';
import { formatCount } from '../format.ts';
import { Shown, Status, Wide } from '../parts/basics.tsx';
import { UsageReport } from '../parts/usage-report.tsx';
import { texts } from '../texts.ts';
import { useCall } from '../use-call.ts';
import { AuditPart } from './operate-audit.tsx';
import { DevicePart } from './operate-device.tsx';
import { LimitsPart } from './operate-limits.tsx';
import { QueuePart } from './operate-queue.tsx';

const { operate: words } = texts;

const parts = ['devices', 'limits', 'usage', 'audit'] as const;

export function OperateView() {
  const {
    path: [, part = 'devices', deviceType],
  } = useAddress();
  const shown = part === 'device' || part === 'queue' ? 'devices' : part;
  return (
    <>
      <div class="title">
        <h1>{texts.views.operate}</h1>
        <nav class="actions" aria-label={texts.views.operate}>
          {parts.map((name) => (
            <a
              key={name}
              class={name === shown ? 'button main' : 'button'}
              href={linkTo(['operate', name])}
              aria-current={name === shown ? 'page' : undefined}
            >
              {words.parts[name]}
            </a>
          ))}
        </nav>
      </div>
      {part === 'limits' && <LimitsPart />}
      {part === 'usage' && <UsageReport scope="all" />}
      {part === 'audit' && <AuditPart />}
      {part === 'queue' && deviceType !== undefined && <QueuePart key={deviceType} deviceType={deviceType} />}
      {part === 'device' && deviceType !== undefined && <DevicePart key={deviceType} deviceType={deviceType} />}
      {shown === 'devices' && deviceType === undefined && <DevicesPart />}
    </>
  );
}

function DevicesPart() {
  const list = useCall<Device[]>('/api/v1/devices', {
    query: { availability: ['ACTIVE', 'INACTIVE', 'RETIRED'] },
    again: () => 15,
  });
  return (
    <>
      <Shown loaded={list}>
        {(devices) => (
          <Wide label={words.parts.devices}>
            <table>
              <thead>
                <tr>
                  {words.deviceColumns.map((name) => (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {devices.map(({ device_type, availability, mode, status, status_message, queue_length }) => (
                  <tr key={device_type}>
                    <td class="name" title={device_type}>
                      <bdi>{device_type}</bdi>
                    </td>
                    <td>
                      <Status status={availability} />
                    </td>
                    <td>
                      <Status status={mode} />
                    </td>
                    <td class="name" title={status}>
                      <bdi>{status}</bdi>
                    </td>
                    <td>
                      <a href={linkTo(['operate', 'queue', device_type])}>
                        {texts.devices.batches(
                          queue_length === null ? texts.devices.longQueue : formatCount(queue_length),
                        )}
                      </a>
                    </td>
                    <td>
                      <a href={linkTo(['operate', 'device', device_type])}>{words.set}</a>
                    </td>
                    <td class="text">
                      <bdi>{status_message}</bdi>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
        )}
      </Shown>
      <OtherDevice />
    </>
  );
}

/** A device may be set before it announces itself. */
function OtherDevice() {
  const [name, setName] = useState('');
  return (
    <form
      class="below actions"
      onSubmit={(event) => {
        event.preventDefault();
        go(linkTo(['operate', 'device', name.trim()]));
      }}
    >
      <label>
        {words.other}
        <input required maxLength={128} value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <button type="submit" class="low">
        {words.set}
      </button>
    </form>
  );
}
