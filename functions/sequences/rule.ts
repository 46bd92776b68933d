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
  /**
   * With the values of a job: the operations that they change, as they are then, and for how long
   * the others keep each channel, in ns.
   */
  readonly changed?: {
    readonly operations: readonly (readonly [place: number, operation: Operation])[];
    readonly otherLengths: ReadonlyMap<string, number>;
  };
}

export interface Finding {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * One thing that Pulser refuses. It may find less than Pulser, and never more: numbers near a bound
 * pass, and so does what depends on variables without a value.
 */
export interface Rule {
  readonly type: `sequence_${string}`;
  /** What is refused, for users to read. */
  readonly refuses: string;
  /** Where Pulser refuses the same. */
  readonly source: string;
  /** Absent: both the sequence's own device and the announced one judge. */
  readonly judge?: 'own' | 'announced';
  /**
   * Of a rule of numbers, which is asked again with the values of each job: the terms that the
   * number at fault follows from. Such a rule finds at `['operations', place, member]`.
   */
  readonly terms?: (operation: Operation, member: string, content: SequenceContent) => unknown;
  readonly find: (judged: Judged) => Iterable<Finding>;
}

/** What Pulser's rounding of coordinates may add up to, in µm. */
export const coordinateTolerance = 1e-5;

/**
 * The operations of these kinds with their places, all kinds where none is named. With the values
 * of a job, only the operations that they change.
 */
export function* operations({ content, changed }: Judged, ...kinds: string[]): Generator<readonly [number, Operation]> {
  for (const [at, operation] of changed?.operations ?? content.operations.entries()) {
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

/** The bound of the most permissive of these channels, for readers. */
export function widestBound(
  { channelsOf }: Judged,
  name: string,
  bound: (channel: Channel) => number | null | undefined,
  widest: (...bounds: number[]) => number = Math.max,
): string {
  return shown(widest(...channelsOf(name).flatMap((channel) => bound(channel) ?? [])));
}

/** A number for readers. */
export function shown(value: number): string {
  return String(Number(value.toPrecision(10)));
}

/** Whether the sequence acts in the XY mode: by its first channel, or by a magnetic field alone. */
export function isXY({ content, bases }: Judged): boolean {
  return bases.length > 0 ? bases[0] === 'XY' : content.magnetic_field !== undefined;
}
