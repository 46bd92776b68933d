import type { Job } from '../../schemas/job.ts';
import { cutEnd } from '../ui/cut-text.ts';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { shortValue } from '../ui/variable-value.ts';

/**
 * `omega = 2.6`: the variables of another job that are not as here, at most two; its place where
 * none is.
 */
export function differenceOf(
  { variables: here }: Pick<Job, 'variables'>,
  other: Pick<Job, 'variables' | 'creation_order'>,
) {
  const differing = Object.entries(other.variables ?? {}).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(here?.[name]),
  );
  if (differing.length === 0) return `${texts.job.title} ${formatCount(other.creation_order + 1)}`;
  const shown = differing.slice(0, 2).map(([name, value]) => `${cutEnd(name, 14)} = ${shortValue(value, 14)}`);
  return `${shown.join(', ')}${differing.length > 2 ? ', …' : ''}`;
}
