import { useAddress } from '../ui/address.ts';
import { type Measure, measures } from './curves.ts';
import { readOutcome } from './measures.ts';

/** What the address says of a figure. What it does not say, the data decide. */
export interface FigureChoice {
  readonly show: Measure;
  /** The name of a variable, or `byNumber`. */
  readonly x: string | undefined;
  /** The second variable of a map, or `noSecond`. */
  readonly over: string | undefined;
  /** Each a sum of bitstrings. */
  readonly outcomes: readonly (readonly string[])[] | undefined;
}

/** No variable is called so. */
export const byNumber = '#';
export const noSecond = '#';

/** The names in the address, so that lists beside a figure leave them out. */
export const figureParameters = ['show', 'x', 'over', 'bits'] as const;

/**
 * The figure that the address names, and the way to another one. A change adds no step to the
 * browser's history.
 */
export function useFigureAddress() {
  const { query } = useAddress();
  const show = measures.find((each) => each === query.get('show')) ?? 'bits';
  const bits = query.getAll('bits').flatMap((text) => [readOutcome(text) ?? []]);
  const choice: FigureChoice = {
    show,
    x: query.get('x') ?? undefined,
    over: query.get('over') ?? undefined,
    outcomes: query.has('bits') ? bits.filter(({ length }) => length > 0) : undefined,
  };
  const change = (changes: Partial<FigureChoice>) => {
    const next = { ...choice, ...changes };
    const parameters = new URLSearchParams(query);
    for (const name of figureParameters) parameters.delete(name);
    if (next.show !== 'bits') parameters.set('show', next.show);
    if (next.x !== undefined) parameters.set('x', next.x);
    if (next.over !== undefined) parameters.set('over', next.over);
    for (const each of next.outcomes ?? []) parameters.append('bits', each.join('+'));
    if (next.outcomes?.length === 0) parameters.set('bits', '');
    const text = parameters.toString();
    const [path] = location.hash.split('?', 1);
    history.replaceState(history.state, '', `${path}${text === '' ? '' : `?${text}`}`);
    dispatchEvent(new HashChangeEvent('hashchange'));
  };
  return { choice, change };
}
