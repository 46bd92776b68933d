import { deviceModes, needsReason } from '../../device-modes.ts';
import type { Device } from '../../schemas/device.ts';
import { useCall } from '../client/use-call.ts';
import { CalibrationHistory } from '../parts/calibration-history.tsx';
import { DayFigures, useDay } from '../parts/day-figures.tsx';
import { linkTo, useAddress } from '../ui/address.ts';
import { download, Empty, Facts, Pre, Shown, Time } from '../ui/basics.tsx';
import { Crumbs } from '../ui/crumbs.tsx';
import { dateOf, formatCount, formatSeconds, formatTime } from '../ui/format.ts';
import { parseJson } from '../ui/json-object.ts';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { describeSpecification } from './specification.ts';

const { devices: words } = texts;

/** Seconds between two looks at the devices. */
const lookSeconds = 30;

export function DevicesView() {
  const { path, query } = useAddress();
  const [, deviceType] = path;
  const isRetired = query.has('retired');
  const list = useCall<Device[]>('/api/v1/devices', {
    query: deviceType === undefined ? { availability: isRetired ? 'RETIRED' : null } : oneDevice(deviceType),
    again: () => lookSeconds,
  });
  if (deviceType !== undefined) {
    return (
      <>
        <Crumbs links={[[texts.views.devices, linkTo(['devices'])]]}>{deviceType}</Crumbs>
        <h1>
          <bdi>{deviceType}</bdi>
        </h1>
        <Shown loaded={list}>
          {([device]) => (device === undefined ? <Empty>{words.unknown}</Empty> : <DeviceState device={device} />)}
        </Shown>
        <Day deviceType={deviceType} />
        <CalibrationHistory deviceType={deviceType} />
        <Specification deviceType={deviceType} />
      </>
    );
  }
  return (
    <>
      <div class="title">
        <h1>{isRetired ? words.retired : texts.views.devices}</h1>
        <a href={linkTo(['devices'], { retired: isRetired ? undefined : 'true' })}>
          {isRetired ? words.showOthers : words.showRetired}
        </a>
      </div>
      <Shown loaded={list}>
        {(devices) =>
          devices.length === 0 ? (
            <Empty>{isRetired ? words.noneRetired : words.none}</Empty>
          ) : (
            <div class="cards">
              {devices.map((device) => (
                <article key={device.device_type} class="card">
                  <h2>
                    <a href={linkTo(['devices', device.device_type])}>
                      <bdi>{device.device_type}</bdi>
                    </a>
                  </h2>
                  <DeviceState device={device} />
                </article>
              ))}
            </div>
          )
        }
      </Shown>
    </>
  );
}

/** Its last 24 hours; nothing for a device that the service does not know. */
function Day({ deviceType }: { readonly deviceType: string }) {
  const day = useDay(deviceType);
  return day.failure?.status === 404 ? null : <DayFigures day={day} />;
}

/** The query that lists one device, whatever its mode. */
function oneDevice(deviceType: string) {
  return { device_type: deviceType, availability: ['ACTIVE', 'INACTIVE', 'RETIRED'] };
}

/** Whether a device works, why not, and how long its queue is. */
function DeviceState({ device }: { readonly device: Omit<Device, 'idle_seconds'> }) {
  const { availability, mode, status, status_message, available_at, windows, queue_length, average_queue_time } =
    device;
  return (
    <>
      <p class="actions">
        <Status status={availability} />
        {needsReason(mode) && deviceModes[mode].listed && <Status status={mode} />}
        {status !== 'UP' && (
          <span class="aside">
            {words.reports} <bdi>{status}</bdi>
          </span>
        )}
      </p>
      {status_message !== null && (
        <p>
          <bdi>{status_message}</bdi>
        </p>
      )}
      <Facts
        facts={[
          [words.queue, queue_length === null ? words.longQueue : words.batches(formatCount(queue_length))],
          [words.wait, average_queue_time === null ? words.noWait : formatSeconds(average_queue_time)],
          [words.atoms, device.max_atom_num === null ? words.notSaid : formatCount(device.max_atom_num)],
          [words.kind, device.is_emulator === null ? words.notSaid : device.is_emulator ? words.emulator : words.qpu],
          ...(available_at === null ? [] : [[words.availableAt, <Time key="at" time={available_at} />] as const]),
        ]}
      />
      {windows.length > 0 && (
        <>
          <h3>{words.windows}</h3>
          <ul class="plain">
            {windows.map(({ starts_at, ends_at, reason }) => (
              <li key={starts_at}>
                <time dateTime={starts_at}>{formatTime(starts_at)}</time> –{' '}
                <time dateTime={ends_at}>{formatEnd(starts_at, ends_at)}</time> · <bdi>{reason}</bdi>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Of an end on the day of the start only the time of day. */
function formatEnd(start: string, end: string): string {
  const isSameDay = dateOf(start).toDateString() === dateOf(end).toDateString();
  return isSameDay ? dateOf(end).toLocaleTimeString(undefined, { timeStyle: 'medium' }) : formatTime(end);
}

function Specification({ deviceType }: { readonly deviceType: string }) {
  const loaded = useCall<{ readonly specs: string }>(`/api/v1/devices/specs/${encodeURIComponent(deviceType)}`);
  return (
    <>
      <h2>{words.specification.title}</h2>
      {loaded.failure?.status === 404 ? (
        <Empty>{words.specification.none}</Empty>
      ) : (
        <Shown loaded={loaded}>{({ specs }) => <SpecificationText specs={specs} deviceType={deviceType} />}</Shown>
      )}
    </>
  );
}

function SpecificationText({ specs, deviceType }: { readonly specs: string; readonly deviceType: string }) {
  const described = describeSpecification(specs);
  const [first] = described?.channels ?? [];
  return (
    <>
      {described !== undefined && (
        <div class="card">
          <Facts facts={described.facts} />
        </div>
      )}
      {first !== undefined && (
        <Table
          label={words.specification.channels}
          columns={first.map(([name], at): Column<typeof first> => [name, (channel) => channel[at]?.[1]])}
          rows={described?.channels ?? []}
          keyOf={(_, at) => at}
        />
      )}
      <details class="below">
        <summary>{words.specification.json}</summary>
        <button type="button" onClick={() => download(`${deviceType}.json`, 'application/json', specs)}>
          {words.specification.download}
        </button>
        <Pre text={indented(specs)} />
      </details>
    </>
  );
}

function indented(json: string): string {
  const value = parseJson(json);
  return value === undefined ? json : JSON.stringify(value, null, 2);
}
