import type { Channel, Operation, SequenceContent, Specification } from '../pulser/sequence-content.ts';

/** A sequence, and a device that it is to run on. */
export interface Judged {
  readonly content: SequenceContent;
  readonly device: Specification;
  /** Whether the sequence was made for this device. Otherwise it is switched to it. */
  readonly isOwn: boolean;
  /**
   * The channels of the device that the sequence's channel of this name may be: its own device has
   * one at most; on another, all of the same basis and addressing. Empty where nothing is known.
   */
  readonly channelsOf: (name: string) => readonly Channel[];
  /** The basis of each declared channel that its own device has, in their order. */
  readonly bases: readonly string[];
}

export interface Finding {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * One thing that Pulser refuses. It may find less than Pulser, and never more: numbers near a bound
 * pass, and so does what depends on variables.
 */
export interface Rule {
  readonly type: `sequence_${string}`;
  /** What is refused, for users to read. */
  readonly refuses: string;
  /** Where Pulser refuses the same. */
  readonly source: string;
  /** Absent: both the sequence's own device and the announced one judge. */
  readonly judge?: 'own' | 'announced';
  readonly find: (judged: Judged) => Iterable<Finding>;
}

/** What Pulser's rounding of coordinates may add up to, in µm. */
export const coordinateTolerance = 1e-5;

/** The operations of these kinds with their places; all of them where none is named. */
export function* operations({ content }: Judged, ...kinds: string[]): Generator<[number, Operation]> {
  for (const [at, operation] of content.operations.entries()) {
    if (kinds.length === 0 || kinds.includes(operation.op)) yield [at, operation];
  }
}

/**
 * Whether all channels that the name may be have a property; false where nothing is known of them.
 */
export function allChannels({ channelsOf }: Judged, name: string, has: (channel: Channel) => boolean): boolean {
  const channels = channelsOf(name);
  return channels.length > 0 && channels.every(has);
}

/** Whether the sequence acts in the XY mode: by its first channel, or by a magnetic field alone. */
export function isXY({ content, bases }: Judged): boolean {
  return bases.length > 0 ? bases[0] === 'XY' : content.magnetic_field !== undefined;
}
