/**
 * Sequences and devices in Pulser's abstract representation, as far as rules and drawings look at
 * them.
 */

export interface SequenceContent {
  readonly name?: string;
  readonly device: string | Specification;
  readonly register: readonly (Atom | MappableQubit)[];
  readonly layout?: Layout;
  /** Ids of the device's channels by the names that the sequence gives them. */
  readonly channels: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, { readonly type: string; readonly value?: readonly number[] }>>;
  readonly operations: readonly Operation[];
  readonly measurement: string | null;
  readonly magnetic_field?: readonly number[];
  readonly slm_mask_targets?: readonly string[];
}

interface Atom {
  readonly name: string;
  /** In µm. */
  readonly x: number;
  readonly y: number;
  readonly z?: number;
}

/** A qubit whose trap a job chooses. */
interface MappableQubit {
  readonly qid: string;
}

/** Positions of traps in µm. */
export interface Layout {
  readonly coordinates: readonly (readonly number[])[];
}

/** A number, or an expression of variables. */
export type Parameter = number | Readonly<Record<string, unknown>>;

/**
 * An operation: `op` says which members it has. Times are in ns, amplitudes and detunings in
 * rad/µs.
 */
export interface Operation {
  readonly op: string;
  readonly channel?: string;
  readonly channels?: readonly string[];
  readonly dmm_name?: string;
  readonly dmm_id?: string;
  readonly amplitude?: Waveform;
  readonly detuning?: Waveform;
  readonly waveform?: Waveform;
  readonly time?: Parameter;
  readonly duration?: Parameter;
  readonly amp_on?: Parameter;
  readonly detuning_on?: Parameter;
  readonly target?: Parameter | readonly number[];
  readonly targets?: readonly Parameter[];
  readonly qubits?: readonly string[];
  readonly basis?: string;
}

export interface Waveform {
  readonly kind: string;
  readonly duration?: Parameter;
  readonly value?: Parameter;
  readonly area?: Parameter;
  readonly start?: Parameter;
  readonly stop?: Parameter;
  readonly samples?: readonly number[];
  readonly waveforms?: readonly Waveform[];
}

/** What a device can do. */
export interface Specification {
  readonly name: string;
  readonly is_virtual: boolean;
  readonly dimensions: number;
  readonly rydberg_level: number;
  readonly min_atom_distance: number;
  readonly max_atom_num: number | null;
  readonly max_radial_distance: number | null;
  readonly min_layout_traps?: number;
  readonly max_layout_traps?: number | null;
  readonly min_layout_filling?: number;
  readonly max_layout_filling?: number;
  readonly requires_layout?: boolean;
  readonly accepts_new_layouts?: boolean;
  readonly pre_calibrated_layouts?: readonly Layout[];
  readonly max_sequence_duration?: number | null;
  readonly max_runs?: number | null;
  readonly supports_slm_mask?: boolean;
  readonly reusable_channels: boolean;
  readonly channels: readonly Channel[];
  readonly dmm_objects?: readonly Channel[];
}

export interface Channel {
  readonly id: string;
  readonly basis: string;
  readonly addressing: string;
  readonly max_amp: number | null;
  readonly max_abs_detuning: number | null;
  readonly min_avg_amp?: number;
  readonly min_duration: number;
  readonly max_duration: number | null;
  readonly max_targets?: number | null;
  readonly eom_config?: object | null;
}
