/**
 * When the pulses of a sequence happen, as pulser-core 1.9 schedules them on a device. Where that
 * depends on what is not computed here, such as how a channel's light fades, the drawing ends and
 * says so: what is drawn is never wrong.
 */

import { modulo, numberOf, numbersOf, readVariables, type Variables } from '../../pulser/parameter-values.ts';
import { qubitsOf } from '../../pulser/qubits.ts';
import { takesOthersDuration } from '../../pulser/waveforms.ts';
import { isObject, type JsonObject } from '../ui/json-object.ts';
import { texts } from '../ui/texts.ts';
import { NotDrawn, whyNotDrawn } from './not-drawn.ts';
import type { ReadableSequence } from './readable-sequence.ts';
import { maxNanoseconds, readWaveform, type Samples, type Waveform } from './waveform-samples.ts';

const { sequence: words } = texts;

/** Sequences of more operations are not drawn: the browser would be busy with them. */
const maxOperations = 10_000;

interface DrawnPulse {
  /** In ns. */
  readonly from: number;
  readonly to: number;
  /** In rad/µs, one for each ns. */
  readonly amplitude: Samples;
  readonly detuning: Samples;
  /** In rad. */
  readonly phase: number;
  readonly targets: readonly string[];
}

export interface Track {
  readonly name: string;
  /** Its id on the device. */
  readonly id: string;
  readonly isLocal: boolean;
  readonly pulses: readonly DrawnPulse[];
}

export interface Timeline {
  readonly tracks: readonly Track[];
  /** When the last channel ends, in ns. */
  readonly nanoseconds: number;
  /** Operations that the drawing shows, of all. */
  readonly drawn: number;
  readonly operations: number;
  /** Why no more of them are drawn. */
  readonly problem: string | undefined;
  /** What is left out though all operations are drawn. */
  readonly notes: readonly string[];
}

interface Slot {
  readonly from: number;
  readonly to: number;
  readonly targets: ReadonlySet<string>;
  readonly isTarget: boolean;
  readonly pulse?: DrawnPulse & { readonly isDelay: boolean };
}

interface Channel {
  readonly name: string;
  readonly id: string;
  readonly basis: string;
  readonly isLocal: boolean;
  readonly isDetuningMap: boolean;
  /** The device's limits: 0 or null where it has none. */
  readonly clock: number;
  readonly minDuration: number;
  readonly phaseJump: number;
  readonly minRetarget: number;
  readonly retarget: number;
  /** Light takes time to fade: how long depends on the pulse. */
  readonly isModulated: boolean;
  readonly slots: Slot[];
}

/** The phase of a qubit, since when it has it, and until when pulses have reached the qubit. */
interface PhaseReference {
  phase: number;
  changed: number;
  used: number;
}

interface State {
  readonly device: ReadableSequence['device'];
  readonly variables: Variables;
  readonly qubits: readonly string[];
  readonly channels: Map<string, Channel>;
  /** By basis and qubit. */
  readonly references: Map<string, Map<string, PhaseReference>>;
  readonly notes: Set<string>;
  /** A detuning map hides qubits during the first pulse; it is not drawn. */
  hasMask: boolean;
}

/** Schedules the operations of a sequence with the values that a job gives, as far as it can. */
export function schedule(sequence: ReadableSequence, given: JsonObject): Timeline {
  const { channels: declared = {}, operations = [] } = sequence;
  const state = begin(sequence, given);
  let drawn = 0;
  let problem: string | undefined;
  try {
    for (const [name, id] of Object.entries(declared)) declare(state, name, id);
    // Sequences of older versions.
    if (sequence.slm_mask_targets !== undefined) operators.config_slm_mask!(state, { dmm_id: 'dmm_0' });
    if (sequence.operations === undefined) throw new NotDrawn(words.noOperations);
    if (operations.length > maxOperations) throw new NotDrawn(words.tooLong);
    // It changes what was before it.
    if (operations.some(({ op }) => op === 'truncate')) throw new NotDrawn(`${words.noOperation} truncate.`);
    for (const operation of operations) {
      const name = String(operation.op);
      if (!Object.hasOwn(operators, name)) throw new NotDrawn(`${words.noOperation} ${name}.`);
      operators[name]!(state, operation);
      drawn++;
    }
  } catch (error) {
    problem = whyNotDrawn(error);
  }
  const channels = [...state.channels.values()];
  const tracks = channels.map(({ name, id, isLocal, slots }) => ({
    name,
    id,
    isLocal,
    pulses: slots.flatMap(({ pulse }) => pulse ?? []),
  }));
  const notes = [...state.notes, ...(channels.some(({ isModulated }) => isModulated) ? [words.modulated] : [])];
  return {
    tracks,
    nanoseconds: Math.max(0, ...channels.map(endOf)),
    drawn,
    operations: operations.length,
    problem,
    notes,
  };
}

function begin(sequence: ReadableSequence, given: JsonObject): State {
  const { register = [] } = sequence;
  const { qubits: places } = given;
  const qubits = qubitsOf({ register })
    // Of a mappable register, the qubits that the job places: operations count them alone.
    .filter(({ id, position }) => position !== undefined || !isObject(places) || Object.hasOwn(places, id))
    .map(({ id }) => id);
  return {
    device: sequence.device,
    variables: readVariables(sequence, given),
    qubits,
    channels: new Map(),
    references: new Map(),
    notes: new Set(),
    hasMask: false,
  };
}

const bases = { rydberg: 'ground-rydberg', raman: 'digital', mw: 'XY' } as const;

/** What the device says of a channel. MockDevice has no limits. */
function factsOf(device: ReadableSequence['device'], id: string): JsonObject {
  if (device === 'MockDevice') {
    const [, kind, reach] = /^(rydberg|raman|mw|dmm)_(\w+)$/.exec(id) ?? [];
    const basis = bases[kind as keyof typeof bases] ?? bases.rydberg;
    return { basis, addressing: reach === 'local' ? 'Local' : 'Global' };
  }
  const lists = isObject(device) ? [device.channels, device.dmm_objects] : [];
  const facts = lists.flat().find((each) => isObject(each) && each.id === id);
  if (!isObject(facts)) throw new NotDrawn(`${words.noDevice} ${id}.`);
  return facts;
}

function declare(state: State, name: string, id: string): Channel {
  const facts = factsOf(state.device, id);
  const number = (key: string, missing: number) => (typeof facts[key] === 'number' ? facts[key] : missing);
  const isLocal = facts.addressing === 'Local';
  const all = new Set(state.qubits);
  const channel: Channel = {
    name,
    id,
    basis: String(facts.basis),
    isLocal,
    isDetuningMap: id.startsWith('dmm_'),
    clock: number('clock_period', 1),
    minDuration: number('min_duration', 1),
    phaseJump: number('custom_phase_jump_time', 0),
    minRetarget: number('min_retarget_interval', 0),
    retarget: number('fixed_retarget_t', 0),
    isModulated: number('mod_bandwidth', 0) > 0,
    slots: isLocal ? [] : [{ from: 0, to: 0, targets: all, isTarget: true }],
  };
  state.channels.set(name, channel);
  return channel;
}

const operators: Readonly<Record<string, (state: State, operation: JsonObject) => void>> = {
  target(state, operation) {
    const places = numbersOf(operation.target, state.variables);
    target(channelOf(state, operation.channel), new Set(places.map((place) => qubitAt(state, place))));
  },
  delay(state, operation) {
    const channel = channelOf(state, operation.channel);
    const duration = numberOf(operation.time, state.variables);
    if (operation.at_rest === true) waitForRest(channel);
    if (duration !== 0) delay(channel, duration);
  },
  align(state, operation) {
    const names = Array.isArray(operation.channels) ? operation.channels : [];
    const channels = names.map((name) => channelOf(state, name));
    if (operation.at_rest !== false) channels.forEach(waitForRest);
    const end = Math.max(...channels.map(endOf));
    for (const channel of channels) {
      const missing = end - endOf(channel);
      if (missing > 0) delay(channel, adjust(channel, missing));
    }
  },
  phase_shift(state, operation) {
    const phi = numberOf(operation.phi, state.variables);
    const places = Array.isArray(operation.targets) ? operation.targets : [];
    const chosen = places.map((place) => qubitAt(state, numberOf(place, state.variables)));
    shiftPhase(state, String(operation.basis), chosen.length > 0 ? chosen : state.qubits, phi);
  },
  pulse(state, operation) {
    const channel = channelOf(state, operation.channel);
    const [amplitude, detuning] = pulseWaveforms(operation, state.variables);
    const phase = numberOf(operation.phase, state.variables);
    const shift = numberOf(operation.post_phase_shift, state.variables);
    add(state, channel, { amplitude, detuning, phase, shift, protocol: operation.protocol });
  },
  add_dmm_detuning(state, operation) {
    const channel = channelOf(state, operation.dmm_name);
    const detuning = readWaveform(operation.waveform, state.variables);
    const amplitude = constant(0, detuning.duration);
    add(state, channel, { amplitude, detuning, phase: 0, shift: 0, protocol: operation.protocol });
  },
  config_detuning_map(state, { dmm_id }) {
    declareMap(state, String(dmm_id));
  },
  config_slm_mask(state, { dmm_id }) {
    const channels = [...state.channels.values()];
    if (channels.some(({ slots }) => slots.some(({ pulse }) => pulse !== undefined))) throw new NotDrawn(words.slmMask);
    state.notes.add(words.slmMask);
    if (channels.some(({ basis }) => basis === 'XY')) return;
    // Its detuning ends with the first pulse, so it delays no other where light does not fade.
    state.hasMask = true;
    if (declareMap(state, String(dmm_id)).isModulated) throw new NotDrawn(words.fades);
  },
};

/** A channel may be there several times. */
function declareMap(state: State, id: string): Channel {
  const count = [...state.channels.values()].filter((each) => each.id === id).length;
  return declare(state, count === 0 ? id : `${id}_${count}`, id);
}

function channelOf(state: State, name: unknown): Channel {
  const channel = state.channels.get(String(name));
  if (channel === undefined) throw new NotDrawn(`${words.noChannel} ${String(name)}.`);
  return channel;
}

function qubitAt({ qubits }: State, place: number): string {
  const id = qubits[place];
  if (id === undefined) throw new NotDrawn(words.noQubit);
  return id;
}

function constant(value: number, duration: number): Waveform {
  return { duration, isConstant: true, sample: (length) => Array<number>(length).fill(value) };
}

/** One that takes the other's duration lasts as long. */
function pulseWaveforms(operation: JsonObject, variables: Variables): [amplitude: Waveform, detuning: Waveform] {
  const forms = [operation.amplitude, operation.detuning];
  const open = forms.findIndex((form) => isObject(form) && takesOthersDuration(form));
  if (open >= 0) {
    const other = readWaveform(forms[1 - open], variables);
    const value = constant(numberOf((forms[open] as JsonObject).value, variables), other.duration);
    return open === 0 ? [value, other] : [other, value];
  }
  const [amplitude, detuning] = [readWaveform(forms[0], variables), readWaveform(forms[1], variables)];
  if (amplitude.duration !== detuning.duration) throw new NotDrawn(words.noWaveform);
  return [amplitude, detuning];
}

function endOf({ slots }: Channel): number {
  return slots.at(-1)?.to ?? 0;
}

/** A duration that the channel can keep: its clock ticks in steps. */
function validDuration({ minDuration, clock }: Channel, duration: number): number {
  const whole = Math.trunc(duration);
  if (!(duration >= minDuration)) throw new NotDrawn(words.tooShort);
  if (duration > maxNanoseconds) throw new NotDrawn(words.tooLong);
  return duration % clock === 0 ? whole : whole + clock - (whole % clock);
}

function adjust(channel: Channel, duration: number): number {
  return validDuration(channel, Math.max(duration, channel.minDuration));
}

function push(channel: Channel, slot: Slot): void {
  if (slot.to > maxNanoseconds) throw new NotDrawn(words.tooLong);
  channel.slots.push(slot);
}

function lastOf({ name, slots }: Channel): Slot {
  const last = slots.at(-1);
  if (last === undefined) throw new NotDrawn(`${words.noTarget} ${name}.`);
  return last;
}

function delay(channel: Channel, duration: number): void {
  const { to: from, targets } = lastOf(channel);
  push(channel, { from, to: from + validDuration(channel, duration), targets, isTarget: false });
}

/** Nothing to wait for where light does not fade, or nothing has shone. */
function waitForRest({ isModulated, slots }: Channel): void {
  if (isModulated && slots.some(({ pulse }) => pulse !== undefined)) throw new NotDrawn(words.fades);
}

function target(channel: Channel, targets: ReadonlySet<string>): void {
  const last = channel.slots.at(-1);
  if (last === undefined) {
    push(channel, { from: 0, to: 0, targets, isTarget: true });
    return;
  }
  waitForRest(channel);
  if (last.targets.symmetricDifference(targets).size === 0) return;
  const elapsed = last.to - (channel.slots.findLast(({ isTarget }) => isTarget)?.to ?? 0);
  const wait = Math.max(0, channel.minRetarget - elapsed, channel.retarget);
  const to = last.to + (wait > 0 ? adjust(channel, wait) : 0);
  push(channel, { from: last.to, to, targets, isTarget: true });
}

function referenceOf({ references }: State, basis: string, qubit: string): PhaseReference {
  const ofBasis = references.get(basis) ?? new Map<string, PhaseReference>();
  references.set(basis, ofBasis);
  const reference = ofBasis.get(qubit) ?? { phase: 0, changed: 0, used: 0 };
  ofBasis.set(qubit, reference);
  return reference;
}

function shiftPhase(state: State, basis: string, qubits: Iterable<string>, phi: number): void {
  if (state.hasMask) throw new NotDrawn(words.slmMask);
  for (const qubit of qubits) {
    const reference = referenceOf(state, basis, qubit);
    reference.phase = modulo(reference.phase + phi, 2 * Math.PI);
    reference.changed = reference.used;
  }
}

interface NewPulse {
  readonly amplitude: Waveform;
  readonly detuning: Waveform;
  readonly phase: number;
  /** Of the phase, after the pulse. */
  readonly shift: number;
  readonly protocol: unknown;
}

function add(state: State, channel: Channel, { amplitude, detuning, phase, shift, protocol }: NewPulse): void {
  const last = lastOf(channel);
  const references = Array.from(last.targets, (qubit) => referenceOf(state, channel.basis, qubit));
  const [first] = references;
  const isMap = channel.isDetuningMap;
  if (first === undefined) throw new NotDrawn(words.noQubit);
  if (!isMap && references.some((each) => each.phase !== first.phase)) throw new NotDrawn(words.phases);
  const twoPi = 2 * Math.PI;
  const turned = modulo(modulo(phase, twoPi) + (isMap ? 0 : first.phase), twoPi);
  const barrier = Math.max(last.to, ...references.map(({ changed }) => changed));
  const isFree = protocol === 'no-delay';
  const start = isFree ? barrier : waitForOthers(state, channel, barrier, protocol === 'wait-for-all');
  const wait = Math.max(start - last.to, isFree ? 0 : phaseJump(channel, turned));
  if (wait > 0) delay(channel, adjust(channel, wait));
  const from = endOf(channel);
  const duration = validDuration(channel, amplitude.duration);
  const samples = [amplitude.sample(duration), detuning.sample(duration)] as const;
  if (!samples.flat().every(Number.isFinite)) throw new NotDrawn(words.notFinite);
  const pulse = {
    from,
    to: from + duration,
    amplitude: samples[0],
    detuning: samples[1],
    phase: turned,
    targets: [...last.targets],
    isDelay: amplitude.isConstant && detuning.isConstant && samples[0][0] === 0,
  };
  push(channel, { from, to: pulse.to, targets: last.targets, isTarget: false, pulse });
  for (const reference of references) reference.used = Math.max(reference.used, pulse.to);
  if (shift !== 0) shiftPhase(state, channel.basis, last.targets, shift);
}

/** How long a pulse of this phase waits after the last one, where that had another. */
function phaseJump({ slots, isModulated, phaseJump: jump }: Channel, phase: number): number {
  const before = slots.findLast(({ pulse }) => pulse !== undefined && !pulse.isDelay);
  if (before === undefined || before.pulse!.phase === phase) return 0;
  if (isModulated) throw new NotDrawn(words.fades);
  return jump - (slots.at(-1)!.to - before.to);
}

/** When the pulses of other channels that it must not overlap have ended; `from` or later. */
function waitForOthers({ channels }: State, channel: Channel, from: number, waitForAll: boolean): number {
  const { targets } = lastOf(channel);
  let start = from;
  for (const other of channels.values()) {
    if (other === channel) continue;
    const isBlocking = (slot: Slot) =>
      slot.pulse !== undefined && (waitForAll || !slot.targets.isDisjointFrom(targets));
    if (other.isModulated && other.slots.some(isBlocking)) throw new NotDrawn(words.fades);
    // Slots are in the order of time.
    const last = other.slots.findLast((slot) => slot.to <= start || isBlocking(slot));
    start = Math.max(start, last?.to ?? 0);
  }
  return start;
}

/** A line through (ns, value): straight between its points. */
type Line = readonly (readonly [nanoseconds: number, value: number])[];

/**
 * The curve of a channel from 0 to `end`: about as many points as asked for, or a few for each
 * pulse.
 */
export function lineOf(pulses: readonly DrawnPulse[], of: 'amplitude' | 'detuning', end: number, points = 1_000): Line {
  const line: [number, number][] = [[0, 0]];
  const step = Math.max(1, Math.ceil(end / (points / 2)));
  for (const [index, { from, to, [of]: samples }] of pulses.entries()) {
    if (pulses[index - 1]?.to !== from) line.push([from, 0]);
    for (let at = 0; at < samples.length; at += step) {
      const part = samples.slice(at, at + step);
      const [least, greatest] = [Math.min(...part), Math.max(...part)];
      // In the order in which the two come, so that peaks stay where they are.
      const extremes = part.indexOf(least) < part.indexOf(greatest) ? [least, greatest] : [greatest, least];
      line.push([from + at + part.indexOf(extremes[0]!), extremes[0]!]);
      if (least !== greatest) line.push([from + at + part.indexOf(extremes[1]!), extremes[1]!]);
    }
    line.push([to, samples.at(-1) ?? 0]);
    if (pulses[index + 1]?.from !== to) line.push([to, 0]);
  }
  line.push([end, 0]);
  return line.filter(([, value], at) => value !== line[at - 1]?.[1] || value !== line[at + 1]?.[1]);
}
