/** Rules of pulses, qubits, maps and variables. */

import { constant, variablesIn } from '../pulser/parameters.ts';
import { isMappable, qubitsOf } from '../pulser/qubits.ts';
import type { Operation, Parameter, Waveform } from '../pulser/sequence-content.ts';
import { durationTerms, extremes, levelTerms, pulseDurations } from '../pulser/waveforms.ts';
import { allChannels, type Finding, type Judged, operations, type Rule, shown, widestBound } from './rule.ts';

const sequence = 'pulser/sequence/sequence.py: Sequence';
const validatePulse = 'pulser/channels/base_channel.py: Channel.validate_pulse';
const deserializer = 'pulser/json/abstract_repr/deserializer.py';

/** Rounding may move a mean, or a value at a bound, by as much. */
const relativeTolerance = 1e-9;
/** The end of a ramp may be rounded up to zero: by how much depends on where the ramp starts. */
const zeroTolerance = ({ greatest, areOfAll }: Bounded) =>
  areOfAll ? 4 * Number.EPSILON * Math.max(greatest, 1e-290) : 1e-6;
/** Detunings are compared once rounded to six digits. */
const detuningTolerance = 1e-6;

/** A value that a channel bounds, and the member that says it. */
interface Bounded {
  readonly at: number;
  readonly member: string;
  readonly channel: string;
  readonly least: number;
  readonly greatest: number;
  /** Whether all samples lie between them. */
  readonly areOfAll: boolean;
}

/** The terms of the levels of a member. */
const levels = (operation: Operation, member: string) =>
  levelTerms(operation[member as keyof Operation] as Waveform | Parameter | undefined);

const pulses: readonly Rule[] = [
  {
    type: 'sequence_pulse_durations',
    refuses: 'pulses whose amplitude and detuning have different durations',
    source: 'pulser/pulse.py: Pulse.__init__',
    judge: 'own',
    terms: durationTerms,
    *find(judged) {
      for (const [at, operation] of operations(judged, 'pulse')) {
        const [amplitude, detuning] = pulseDurations(operation);
        if (detuning === undefined || amplitude === detuning) continue;
        const message = `The duration of detuning and amplitude must match: ${detuning} and ${amplitude} ns.`;
        yield { path: ['operations', at, 'detuning'], message };
      }
    },
  },
  {
    type: 'sequence_amplitude',
    refuses: 'amplitudes below zero, or above `max_amp`',
    source: `${validatePulse}, Pulse.__init__`,
    terms: levels,
    *find(judged) {
      for (const each of amplitudes(judged)) {
        const { at, member, channel, least, greatest } = each;
        const path = ['operations', at, member];
        if (least < -zeroTolerance(each)) {
          yield { path, message: `The amplitude (${shown(least)} rad/µs) must be greater than or equal to zero.` };
        }
        const isOver = (max: number | null) => max !== null && greatest > max * (1 + relativeTolerance);
        if (!allChannels(judged, channel, ({ max_amp }) => isOver(max_amp))) continue;
        const most = widestBound(judged, channel, ({ max_amp }) => max_amp);
        const message = `The amplitude (${shown(greatest)} rad/µs) is above the maximum of channel '${channel}' (${most} rad/µs).`;
        yield { path, message };
      }
    },
  },
  {
    type: 'sequence_average_amplitude',
    refuses: 'amplitudes that are all below `min_avg_amp` and above zero',
    source: validatePulse,
    terms: levels,
    *find(judged) {
      for (const { at, member, channel, least, greatest, areOfAll } of amplitudes(judged)) {
        const isUnder = (min: number) => areOfAll && least > 0 && greatest < min * (1 - relativeTolerance);
        if (!allChannels(judged, channel, ({ min_avg_amp = 0 }) => isUnder(min_avg_amp))) continue;
        const min = widestBound(judged, channel, ({ min_avg_amp }) => min_avg_amp, Math.min);
        const message = `The average amplitude (at most ${shown(greatest)} rad/µs) is below the minimum of channel '${channel}' (${min} rad/µs).`;
        yield { path: ['operations', at, member], message };
      }
    },
  },
  {
    type: 'sequence_detuning',
    refuses: 'detunings beyond `max_abs_detuning`',
    source: validatePulse,
    terms: levels,
    *find(judged) {
      for (const { at, member, channel, least, greatest } of detunings(judged)) {
        const found = Math.max(-least, greatest);
        const isOver = (max: number | null) => max !== null && found > max + detuningTolerance;
        if (!allChannels(judged, channel, ({ max_abs_detuning }) => isOver(max_abs_detuning))) continue;
        const [most, value] = [widestBound(judged, channel, ({ max_abs_detuning }) => max_abs_detuning), shown(found)];
        const message = `The detuning (${value} rad/µs, without its sign) is above the maximum of channel '${channel}' (${most} rad/µs).`;
        yield { path: ['operations', at, member], message };
      }
    },
  },
  {
    type: 'sequence_dmm_detuning',
    refuses: 'detunings above zero of a detuning map',
    source: 'pulser/channels/dmm.py: DMM.validate_pulse',
    judge: 'own',
    terms: levels,
    *find(judged) {
      for (const [at, { waveform }] of operations(judged, 'add_dmm_detuning')) {
        const found = waveform && extremes(waveform);
        if (found === undefined || found.greatest <= detuningTolerance) continue;
        const message = `The detuning in a DMM (${shown(found.greatest)} rad/µs) must not be positive.`;
        yield { path: ['operations', at, 'waveform'], message };
      }
    },
  },
];

function* bounded(judged: Judged, member: 'amplitude' | 'detuning', eomMember: 'amp_on' | 'detuning_on') {
  for (const [at, operation] of operations(judged)) {
    const { channel = '' } = operation;
    const waveform = operation[member];
    const value = constant(operation[eomMember]);
    const found =
      waveform === undefined
        ? value !== undefined && { least: value, greatest: value, areOfAll: true }
        : extremes(waveform);
    if (found) yield { at, member: waveform === undefined ? eomMember : member, channel, ...found };
  }
}

const amplitudes = (judged: Judged): Iterable<Bounded> => bounded(judged, 'amplitude', 'amp_on');
const detunings = (judged: Judged): Iterable<Bounded> => bounded(judged, 'detuning', 'detuning_on');

const qubits: readonly Rule[] = [
  {
    type: 'sequence_target',
    refuses: 'targets beyond the qubits of the register',
    source: `${sequence}._check_qubits_give_ids`,
    judge: 'own',
    terms: ({ target, targets }) => target ?? targets,
    *find(judged) {
      const { length } = qubitsOf(judged.content);
      for (const [at, { target, targets }] of operations(judged, 'target', 'phase_shift')) {
        const indices = [target ?? targets].flat().flatMap((each) => constant(each) ?? []);
        if (indices.every((each) => Math.trunc(each) < length && Math.trunc(each) >= -length)) continue;
        const path = ['operations', at, target === undefined ? 'targets' : 'target'];
        yield { path, message: `Indices must exist for the register, which has ${length} qubits.` };
      }
    },
  },
  {
    type: 'sequence_slm_mask',
    refuses: 'an SLM mask that the device or the register does not support, or of unknown qubits',
    source: `${sequence}.config_slm_mask`,
    find: maskFaults,
  },
  {
    type: 'sequence_detuning_map',
    refuses: 'detuning maps and masks of a DMM channel that the device does not have',
    source: `${sequence}._config_detuning_map, config_slm_mask`,
    *find(judged) {
      const { device, isOwn } = judged;
      const ids = (device.dmm_objects ?? []).map((_, place) => `dmm_${place}`);
      for (const [at, { dmm_id = '' }] of operations(judged, 'config_detuning_map', 'config_slm_mask')) {
        if (isOwn ? ids.includes(dmm_id) : ids.length > 0) continue;
        yield { path: ['operations', at, 'dmm_id'], message: `No DMM called ${dmm_id} is available in the device.` };
      }
    },
  },
];

function* maskFaults(judged: Judged): Generator<Finding> {
  const { content, device } = judged;
  const ids = new Set(qubitsOf(content).map(({ id }) => id));
  for (const [at, { qubits: masked = [] }] of operations(judged, 'config_slm_mask')) {
    if (device.supports_slm_mask === false) {
      yield { path: ['operations', at], message: `The '${device.name}' device does not have an SLM mask.` };
    }
    if (isMappable(content)) {
      yield { path: ['operations', at], message: "The SLM mask can't be combined with a mappable register." };
    } else if (!masked.every((each) => ids.has(each))) {
      yield { path: ['operations', at, 'qubits'], message: 'SLM mask targets must exist in the register.' };
    }
  }
}

const variables: readonly Rule[] = [
  {
    type: 'sequence_undeclared_variable',
    refuses: 'operations with variables that the sequence does not declare',
    source: `${deserializer}: _deserialize_parameter`,
    judge: 'own',
    *find(judged) {
      for (const [at, operation] of operations(judged)) {
        for (const name of new Set(variablesIn(operation))) {
          if (Object.hasOwn(judged.content.variables, name)) continue;
          yield { path: ['operations', at], message: `Variable '${name.slice(0, 100)}' is not declared.` };
        }
      }
    },
  },
  {
    type: 'sequence_variable',
    refuses: 'variables without a size, or with a name that Pulser needs',
    source: `${sequence}.declare_variable`,
    judge: 'own',
    *find({ content }) {
      for (const [name, { value = [] }] of Object.entries(content.variables)) {
        const path = ['variables', name];
        if (value.length === 0) yield { path, message: 'Variables must be of size 1 or larger.' };
        if (protectedNames.includes(name)) yield { path, message: `'${name}' is a protected name.` };
      }
    },
  },
];

const protectedNames = ['qubits', 'seq_name', 'json_dumps_options'];

export const pulseRules: readonly Rule[] = [...pulses, ...qubits, ...variables];
