import { usesVariables } from '../pulser/parameters.ts';
import type { Operation, Waveform } from '../pulser/sequence-content.ts';
import { ownDevice, type ReadForm } from './sequence-form.ts';

/** Kinds whose samples rules do not compute. */
const uncomputedKinds = ['blackman_max', 'interpolated', 'kaiser', 'kaiser_max'];

/** What the rules do not look at in a sequence, in words. */
export function leftToDevice({ content, unjudged }: Pick<ReadForm, 'content' | 'unjudged'>): string[] {
  if (content === undefined) return unjudged === undefined ? [] : [`The whole sequence: ${unjudged}.`];
  const own = `All but the form: the sequence only names its device, ${content.device}, and the check does not know it.`;
  const used = new Set(content.operations.flatMap(kindsIn));
  const kinds = uncomputedKinds.filter((kind) => used.has(kind));
  return [
    ...(ownDevice(content) === undefined ? [own] : []),
    ...(kinds.length === 0 ? [] : [`The samples of waveforms of these kinds: ${kinds.join(', ')}.`]),
  ];
}

/** What stays open until a job gives values: nothing where no operation depends on variables. */
export function leftToValues({ content }: Pick<ReadForm, 'content'>): string[] {
  if (content?.operations.some(usesVariables) !== true) return [];
  return [
    `What depends on these variables: ${Object.keys(content.variables).join(', ')}. No job gives them values yet.`,
  ];
}

function kindsIn({ amplitude, detuning, waveform }: Operation): string[] {
  const within = ({ kind, waveforms = [] }: Waveform): string[] => [kind, ...waveforms.flatMap(within)];
  return [amplitude, detuning, waveform].flatMap((each) => (each === undefined ? [] : within(each)));
}
