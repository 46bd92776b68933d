/** What machines report of themselves, in words. */

import { formatNumber } from '../ui/format.ts';

/**
 * The parameters of Pulser's `NoiseModel`, by their names there, with the units that its
 * documentation gives.
 */
const agreed: Readonly<Record<string, readonly [label: string, unit?: string]>> = {
  state_prep_error: ['state preparation errors'],
  p_false_pos: ['false positives'],
  p_false_neg: ['false negatives'],
  temperature: ['temperature', 'µK'],
  laser_waist: ['laser waist', 'µm'],
  amp_sigma: ['σ of amplitudes'],
  detuning_sigma: ['σ of detunings', 'rad/µs'],
  trap_waist: ['trap waist', 'µm'],
  trap_depth: ['trap depth', 'µK'],
  relaxation_rate: ['relaxation rate', '1/µs'],
  dephasing_rate: ['dephasing rate', '1/µs'],
  hyperfine_dephasing_rate: ['hyperfine dephasing rate', '1/µs'],
  depolarizing_rate: ['depolarizing rate', '1/µs'],
  dmm_sigma: ['σ of the detuning map'],
  detuning_map_spot_waist: ['spot waist of the detuning map', 'µm'],
};

/** What a number is called, with its unit if it is known; other names are as they were reported. */
export function labelOf(name: string): readonly [label: string, unit?: string] {
  return Object.hasOwn(agreed, name) ? agreed[name]! : [name];
}

/** `temperature 27.5 µK`. */
export function numberText(name: string, value: number): string {
  const [label, unit = ''] = labelOf(name);
  return `${label} ${formatNumber(value)} ${unit}`.trimEnd();
}
