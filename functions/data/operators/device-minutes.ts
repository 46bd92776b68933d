/**
 * What was measured of devices, minute by minute, for 8 days: in the table Counters an item for
 * each device and 20 minutes. A minute is one attribute of it, so that a measurement takes one
 * write unit.
 */

import { InvalidInput } from '../../errors.ts';
import type { DeviceMinutes, Minutes, MinutesQuery } from '../../schemas/device-minutes.ts';
import { fromMilliseconds, minuteOf, toMicroseconds } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import { queryAll } from '../dynamodb/reads.ts';
import { deviceSubject, updateCounter } from '../queue/device-counters.ts';
import { type QueueMeasure, workersPresent } from './queue-measures.ts';

const minutesOfItem = 20;
const keptMinutes = 8 * 24 * 60;
const maxValues = 1_500;

/** In this order, in base 36 and with commas between them, they are stored. New ones come last. */
const numbers = ['length', 'started', 'waited', 'busy', 'workers', 'atWork'] as const;

/** `busy`: the microseconds of all time until then. */
type MinuteNumbers = Readonly<Record<(typeof numbers)[number], number>>;

type MinuteValue = MinuteNumbers & { readonly minute: number };

/** Items sort by time: their numbers have seven digits until the year 2350. */
const nameOf = (minute: number) => `minutes#${Math.floor(minute / minutesOfItem)}`;
const attributeOf = (minute: number) => `m${minute % minutesOfItem}`;

/**
 * Keeps what was measured, as the value of the minute that is over. The first measurement of a
 * minute counts, and others change nothing. 1 write unit.
 */
export async function keepMinute(
  db: Db<'Counters'>,
  deviceType: string,
  { measure, idle }: { readonly measure: QueueMeasure; readonly idle: ReadonlyMap<string, number> },
): Promise<void> {
  const { at, length, started, busy, atWork } = measure;
  const minute = minuteOf(at) - 1;
  const kept: MinuteNumbers = {
    length,
    started: started.batches,
    waited: started.seconds,
    busy,
    workers: workersPresent(measure, idle),
    atWork: atWork.length,
  };
  const attribute = attributeOf(minute);
  const update = {
    assignment: `${attribute} = if_not_exists(${attribute}, :value)`,
    value: numbers.map((each) => kept[each].toString(36)).join(),
    expires_at: 60 * (minute + minutesOfItem + keptMinutes),
  };
  await updateCounter(db, { deviceType, name: nameOf(minute) }, update);
}

/**
 * The values of a time, by default of the last 24 hours in steps of 5 minutes. Steps begin at
 * multiples of `step`; one that begins before `from` and reaches into the time is whole. Throws
 * InvalidInput for an empty time, and for more than 1,500 values. Eventually consistent: 6 read
 * units for a day.
 */
export async function listMinutes(db: Db<'Counters'>, deviceType: string, query: MinutesQuery): Promise<DeviceMinutes> {
  const { step = 300 } = query;
  const now = db.clock.now();
  const to = query.to === undefined ? now : toMicroseconds(query.to) / 1_000;
  const from = query.from === undefined ? to - 24 * 3_600_000 : toMicroseconds(query.from) / 1_000;
  if (from >= to) throw refusal('Input should be a range: from is not before to');
  const begin = Math.floor(from / (step * 1_000));
  const end = Math.ceil(to / (step * 1_000));
  if (end - begin > maxValues)
    throw refusal(`The range has more than ${maxValues} steps: ask for less time, or longer steps`);
  const stepMinutes = step / 60;
  const first = Math.max(begin * stepMinutes, minuteOf(now) - keptMinutes);
  const last = Math.min(end * stepMinutes, minuteOf(now)) - 1;
  if (first > last) return { device_type: deviceType, step, minutes: [] };
  const values = withBusyTimes(await readValues(db, deviceType, { first, last }));
  const shown = values.filter(({ minute }) => minute >= first && minute <= last);
  const steps = Map.groupBy(shown, ({ minute }) => Math.floor(minute / stepMinutes));
  return { device_type: deviceType, step, minutes: Array.from(steps, ([at, of]) => sumUp(at * step * 1_000, of)) };
}

interface Span {
  readonly first: number;
  readonly last: number;
}

/** In the order of time, and with some from before the first: its busy time is a difference. */
async function readValues(db: Db<'Counters'>, deviceType: string, { first, last }: Span): Promise<MinuteValue[]> {
  const items = await queryAll(db, {
    table: 'Counters',
    partition: { subject: deviceSubject(deviceType) },
    sortKey: 'name',
    range: { between: [nameOf(first - minutesOfItem), nameOf(last)] },
    consistent: false,
  });
  return items.flatMap((item) => {
    const start = Number(String(item.name).split('#')[1]) * minutesOfItem;
    return Array.from({ length: minutesOfItem }, (_, at) => start + at).flatMap((minute) => {
      const stored: unknown = item[attributeOf(minute)];
      if (typeof stored !== 'string') return [];
      const parts = stored.split(',').map((part) => Number.parseInt(part, 36));
      return [{ minute, ...(Object.fromEntries(numbers.map((name, at) => [name, parts[at] ?? 0])) as MinuteNumbers) }];
    });
  });
}

/**
 * The values with the microseconds by which the time of all work has grown since the value before.
 * An event that corrects an end can make the sum smaller: then nothing is added until it has grown
 * beyond its highest value.
 */
function withBusyTimes(values: readonly MinuteValue[]): MinuteValue[] {
  let highest = values[0]?.busy ?? 0;
  return values.map((value) => {
    const before = highest;
    highest = Math.max(highest, value.busy);
    return { ...value, busy: highest - before };
  });
}

function sumUp(at: number, values: readonly MinuteValue[]): Minutes {
  const sum = (name: keyof MinuteNumbers) => values.reduce((total, value) => total + value[name], 0);
  const most = (name: keyof MinuteNumbers) => values.reduce((highest, value) => Math.max(highest, value[name]), 0);
  return {
    at: fromMilliseconds(at),
    queue_length: Math.round((100 * sum('length')) / values.length) / 100,
    longest_queue: most('length'),
    batches_started: sum('started'),
    waited_seconds: sum('waited'),
    busy_seconds: sum('busy') / 1e6,
    workers: most('workers'),
  };
}

function refusal(msg: string): InvalidInput {
  return new InvalidInput([{ loc: ['query', 'to'], msg, type: 'value_error' }]);
}
