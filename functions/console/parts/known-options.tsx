import type { Known } from './known-people.ts';

interface Props {
  readonly known: readonly Known[];
  /** What is chosen now, known or not. */
  readonly value?: string | undefined;
}

/** The options of a choice of people, projects or devices, by their names. */
export function KnownOptions({ known, value = '' }: Props) {
  const isMissing = value !== '' && known.every(({ id }) => id !== value);
  return [...(isMissing ? [{ id: value, name: value }] : []), ...known].map(({ id, name }) => (
    <option key={id} value={id} title={id}>
      {name}
    </option>
  ));
}
