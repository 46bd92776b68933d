/** Rules of channels, bases and times. */

import { constant } from '../pulser/parameters.ts';
import type { Channel, Operation } from '../pulser/sequence-content.ts';
import { durationTerms, operationDuration } from '../pulser/waveforms.ts';
import { allChannels, type Finding, isXY, type Judged, operations, type Rule, shown, widestBound } from './rule.ts';

const sequence = 'pulser/sequence/sequence.py: Sequence';
const switching = 'pulser/sequence/helpers/_switch_device.py: switch_device';

const declarations: readonly Rule[] = [
  {
    type: 'sequence_unknown_channel',
    refuses: 'channels that the device does not have',
    source: `${sequence}.declare_channel`,
    judge: 'own',
    *find({ content, device }) {
      const ids = new Set(device.channels.map((channel) => channel.id));
      for (const [name, id] of Object.entries(content.channels)) {
        if (ids.has(id)) continue;
        yield { path: ['channels', name], message: `No channel ${id} in the device.` };
      }
    },
  },
  {
    type: 'sequence_channel_in_use',
    refuses: 'a channel that is declared twice where `reusable_channels` is false',
    source: `${sequence}.available_channels`,
    judge: 'own',
    *find({ content, device }) {
      const used = new Set<string>();
      for (const [name, id] of Object.entries(content.channels)) {
        if (used.has(id) && !device.reusable_channels) {
          yield { path: ['channels', name], message: `Channel ${id} is not available.` };
        }
        used.add(id);
      }
    },
  },
  {
    type: 'sequence_mixed_modes',
    refuses: 'channels of the XY basis beside others, and a magnetic field without them',
    source: `${sequence}.declare_channel, set_magnetic_field`,
    judge: 'own',
    *find({ content, bases }) {
      const xy = bases.filter((basis) => basis === 'XY').length;
      if (xy > 0 && xy < bases.length) {
        yield { path: ['channels'], message: "Channels of type 'Microwave' cannot work with others." };
      }
      if (content.magnetic_field !== undefined && bases.length > 0 && bases[0] !== 'XY') {
        yield { path: ['magnetic_field'], message: "The magnetic field can only be set in 'XY Mode'." };
      }
    },
  },
  {
    type: 'sequence_no_matching_channel',
    refuses: 'channels of a basis and addressing that the announced device does not have',
    source: switching,
    judge: 'announced',
    *find({ content, device, bases, channelsOf }) {
      const names = Object.keys(content.channels);
      if (bases.length < names.length) return;
      for (const name of names.filter((each) => channelsOf(each).length === 0)) {
        yield { path: ['channels', name], message: `${device.name} has no channel of the same basis and addressing.` };
      }
    },
  },
  {
    type: 'sequence_rydberg_level',
    refuses: 'another Rydberg level than that of the announced device',
    source: switching,
    judge: 'announced',
    *find(judged) {
      const { content, device } = judged;
      if (typeof content.device === 'string' || isXY(judged)) return;
      const { rydberg_level } = content.device;
      if (rydberg_level === device.rydberg_level) return;
      const message = `The Rydberg level of ${device.name} is ${device.rydberg_level}, not ${rydberg_level}.`;
      yield { path: ['device', 'rydberg_level'], message };
    },
  },
  {
    type: 'sequence_measurement',
    refuses: 'a measurement in a basis that the device or the mode does not support',
    source: `${sequence}.measure`,
    *find(judged) {
      const { content, device } = judged;
      const supported = isXY(judged)
        ? ['XY']
        : device.channels.map(({ basis }) => basis).filter((each) => each !== 'XY');
      if (content.measurement === null || supported.includes(content.measurement)) return;
      const options = [...new Set(supported)].join(', ');
      yield {
        path: ['measurement'],
        message: `The basis '${content.measurement}' is not supported: the options are ${options}.`,
      };
    },
  },
];

const usesOfChannels: readonly Rule[] = [
  {
    type: 'sequence_undeclared_channel',
    refuses: 'operations on channels that the sequence does not declare',
    source: `${sequence}._validate_channel, align`,
    judge: 'own',
    *find(judged) {
      const isDeclared = (name: string) => Object.hasOwn(judged.content.channels, name) || name.startsWith('dmm_');
      for (const [at, { channel, channels = [] }] of operations(judged)) {
        const named = [...(channel === undefined ? [] : [[['channel'], channel] as const])];
        const aligned = channels.map((each, place) => [['channels', place], each] as const);
        for (const [path, name] of [...named, ...aligned]) {
          if (!isDeclared(name))
            yield { path: ['operations', at, ...path], message: 'Use the name of a declared channel.' };
        }
      }
    },
  },
  {
    type: 'sequence_align',
    refuses: 'alignments of fewer than two different channels',
    source: `${sequence}.align`,
    judge: 'own',
    *find(judged) {
      for (const [at, { channels = [] }] of operations(judged, 'align')) {
        if (channels.length > 1 && new Set(channels).size === channels.length) continue;
        yield { path: ['operations', at, 'channels'], message: 'Needs at least two channels, each once.' };
      }
    },
  },
  {
    type: 'sequence_not_local',
    refuses: 'targets of a global channel',
    source: `${sequence}._target`,
    *find(judged) {
      for (const [at, { channel = '' }] of operations(judged, 'target')) {
        if (!allChannels(judged, channel, ({ addressing }) => addressing !== 'Local')) continue;
        yield { path: ['operations', at, 'channel'], message: "Can only choose target of 'Local' channels." };
      }
    },
  },
  {
    type: 'sequence_too_many_targets',
    refuses: 'more targets at once than `max_targets`',
    source: `${sequence}._target`,
    terms: ({ target }) => target,
    *find(judged) {
      for (const [at, { channel = '', target }] of operations(judged, 'target')) {
        const count = Array.isArray(target) ? new Set(target).size : 1;
        if (!allChannels(judged, channel, ({ max_targets }) => count > (max_targets ?? count))) continue;
        yield { path: ['operations', at, 'target'], message: `The channel cannot target ${count} qubits at a time.` };
      }
    },
  },
  {
    type: 'sequence_no_target',
    refuses: 'pulses of a local channel that has no target yet',
    source: 'pulser/sequence/_schedule.py: _ChannelSchedule.__getitem__',
    judge: 'own',
    *find(judged) {
      const targeted = new Set<string>();
      for (const [at, { op, channel = '' }] of operations(judged, 'target', 'pulse', 'pulse_arbitrary_phase')) {
        if (op === 'target') targeted.add(channel);
        else if (!targeted.has(channel) && allChannels(judged, channel, ({ addressing }) => addressing === 'Local')) {
          yield { path: ['operations', at, 'channel'], message: 'The channel has no target yet.' };
        }
      }
    },
  },
  {
    type: 'sequence_phase_shift',
    refuses: 'phase shifts in a basis that no declared channel addresses',
    source: `${sequence}._phase_shift`,
    judge: 'own',
    *find(judged) {
      const { content, bases } = judged;
      const hasMap = content.slm_mask_targets !== undefined || [...operations(judged, ...maps)].length > 0;
      if (hasMap || bases.length < Object.keys(content.channels).length) return;
      for (const [at, { basis = '' }] of operations(judged, 'phase_shift')) {
        if (bases.includes(basis)) continue;
        yield { path: ['operations', at, 'basis'], message: `No declared channel targets the basis '${basis}'.` };
      }
    },
  },
];

const maps = ['config_detuning_map', 'config_slm_mask'];

const eomChanges = ['enable_eom_mode', 'modify_eom_setpoint', 'add_eom_pulse', 'disable_eom_mode'];

const times: readonly Rule[] = [
  {
    type: 'sequence_no_eom',
    refuses: 'the EOM mode of a channel that has no EOM',
    source: `${sequence}.enable_eom_mode`,
    *find(judged) {
      for (const [at, { channel = '' }] of operations(judged, 'enable_eom_mode')) {
        if (!allChannels(judged, channel, ({ eom_config }) => (eom_config ?? null) === null)) continue;
        yield { path: ['operations', at, 'channel'], message: `Channel '${channel}' does not have an EOM.` };
      }
    },
  },
  {
    type: 'sequence_eom_mode',
    refuses: 'operations of the EOM mode outside it, and others within it',
    source: `${sequence}._validate_channel, is_in_eom_mode`,
    judge: 'own',
    find: eomFaults,
  },
  {
    type: 'sequence_duration',
    refuses: 'pulses and delays shorter than `min_duration` or longer than `max_duration`',
    source: 'pulser/channels/base_channel.py: Channel.validate_duration',
    terms: durationTerms,
    *find(judged) {
      for (const [at, operation] of operations(judged)) {
        const duration = operationDuration(operation);
        if (duration === undefined || (operation.op === 'delay' && duration === 0)) continue;
        const { channel = '' } = operation;
        const path = ['operations', at, operation.op === 'delay' ? 'time' : memberOfDuration(operation)];
        const isOut = ({ min_duration: min, max_duration: max }: Channel) =>
          duration < min || duration > (max ?? duration);
        if (!allChannels(judged, channel, isOut)) continue;
        const least = widestBound(judged, channel, ({ min_duration }) => min_duration, Math.min);
        const [side, bound] =
          duration < Number(least)
            ? ['below the minimum', least]
            : ['above the maximum', widestBound(judged, channel, ({ max_duration }) => max_duration)];
        yield {
          path,
          message: `The duration (${shown(duration)} ns) is ${side} of channel '${channel}' (${bound} ns).`,
        };
      }
    },
  },
  {
    type: 'sequence_too_long',
    refuses: 'sequences longer than `max_sequence_duration`',
    source: 'pulser/sequence/_schedule.py: _Schedule._check_duration',
    terms: ({ channel }, _, { operations: all }) => all.filter((each) => each.channel === channel).map(durationTerms),
    find: lengthFaults,
  },
];

export const channelRules: readonly Rule[] = [...declarations, ...usesOfChannels, ...times];

function memberOfDuration({ op }: Operation): string {
  return op === 'add_eom_pulse' ? 'duration' : 'amplitude';
}

/** A truncation may undo a change of the mode. */
function* eomFaults(judged: Judged): Generator<Finding> {
  if (judged.content.operations.some(({ op }) => op === 'truncate')) return;
  const inEom = new Set<string>();
  for (const [at, { op, channel = '' }] of operations(
    judged,
    ...eomChanges,
    'pulse',
    'pulse_arbitrary_phase',
    'target',
  )) {
    const needsEom = eomChanges.includes(op) && op !== 'enable_eom_mode';
    if (inEom.has(channel) !== needsEom) {
      const message = needsEom ? `Channel '${channel}' must be in EOM mode.` : 'The chosen channel is in EOM mode.';
      yield { path: ['operations', at, 'channel'], message };
    }
    if (op === 'enable_eom_mode') inEom.add(channel);
    if (op === 'disable_eom_mode') inEom.delete(channel);
  }
}

/** Waits come on top of what is summed here; a truncation may shorten it. */
function* lengthFaults(judged: Judged): Generator<Finding> {
  const { max_sequence_duration: max } = judged.device;
  if (max === null || max === undefined || judged.content.operations.some(({ op }) => op === 'truncate')) return;
  const lengths = new Map(judged.changed?.otherLengths);
  for (const [at, operation] of operations(judged)) {
    const { channel = '' } = operation;
    const before = lengths.get(channel) ?? 0;
    const length = before + leastLength(operation);
    lengths.set(channel, length);
    if (length <= max || before > max) continue;
    const message = `The operations of channel '${channel}' last ${shown(length)} ns or more, and a sequence on ${judged.device.name} lasts ${max} ns at most.`;
    yield { path: ['operations', at], message };
  }
}

/** How long an operation keeps its channel at least, in ns. */
export function leastLength(operation: Operation): number {
  return Math.max(0, constant(operationDuration(operation)) ?? 0);
}
