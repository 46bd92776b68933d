/**
 * What a device's specification says, in words: Pulser's abstract representation of a device.
 * Members that are not known here are in its JSON, which the view shows on demand.
 */

import { formatCount } from '../ui/format.ts';
import { isObject, type JsonObject, readObject } from '../ui/json-object.ts';
import { texts } from '../ui/texts.ts';

const { specification: words } = texts.devices;

type Row = readonly (readonly [name: string, text: string])[];

interface SpecificationInWords {
  readonly facts: Row;
  /** Channels and detuning maps; each row has the same columns. */
  readonly channels: readonly Row[];
}

/** The words; undefined for a text that is no JSON object. */
export function describeSpecification(text: string): SpecificationInWords | undefined {
  const members = readObject(text);
  if (members === undefined) return undefined;
  const { pre_calibrated_layouts: layouts, channels, dmm_objects } = members;
  const layoutNames = Array.isArray(layouts)
    ? layouts.map((each: JsonObject) => String(each?.slug ?? words.noName))
    : [];
  const facts = [
    ...factNames
      .filter((name) => known(members[name]))
      .map((name) => [words.facts[name], amount(members[name], units[name])] as const),
    ...(layoutNames.length === 0 ? [] : [[words.layouts, layoutNames.join(', ')] as const]),
  ];
  const rows = [channels, dmm_objects].flatMap((each) => (Array.isArray(each) ? each.filter(isObject) : []));
  return { facts, channels: rows.map(describeChannel) };
}

const factNames = Object.keys(words.facts) as (keyof typeof words.facts)[];

const units: Readonly<Record<string, string>> = {
  min_atom_distance: 'µm',
  max_radial_distance: 'µm',
  max_sequence_duration: 'ns',
};

function describeChannel(channel: JsonObject): Row {
  const { id, basis, addressing, max_amp, max_abs_detuning, bottom_detuning, mod_bandwidth } = channel;
  const detuning = max_abs_detuning ?? (typeof bottom_detuning === 'number' ? -bottom_detuning : undefined);
  return [
    [words.channel.id, plain(id)],
    [words.channel.basis, plain(basis)],
    [words.channel.addressing, plain(addressing)],
    [words.channel.max_amp, amount(max_amp, 'rad/µs')],
    [words.channel.max_abs_detuning, amount(detuning, 'rad/µs')],
    [words.channel.duration, durations(channel)],
    [words.channel.mod_bandwidth, amount(mod_bandwidth, 'MHz')],
  ];
}

function durations({ min_duration: min, max_duration: max, clock_period: clock }: JsonObject): string {
  const range = known(max) ? `${amount(min)} – ${amount(max, 'ns')}` : `≥ ${amount(min, 'ns')}`;
  return typeof clock === 'number' && clock > 1 ? `${range}, ${words.steps} ${amount(clock, 'ns')}` : range;
}

/** A number with three digits after its point; what has no bound is in words. */
function amount(value: unknown, unit = ''): string {
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  if (!known(value)) return words.unbounded;
  const text = typeof value === 'number' ? formatCount(value) : plain(value);
  return unit === '' ? text : `${text} ${unit}`;
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return texts.common.none;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function known(value: unknown): boolean {
  return value !== undefined && value !== null;
}
