import { countedLimits, limits as facts, type LimitName, limitNames } from '../../limits.ts';
import type { OwnLimits } from '../../schemas/limits.ts';
import { Facts } from '../ui/basics.tsx';
import { formatCount, formatSeconds } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';

const { limits: words } = texts;

const others = limitNames.filter((name) => !countedLimits.some((counted) => counted === name));

/** What is used of each limit, and what is left, as bars with their figures. */
export function LimitBars({ limits: { limits, used, left } }: { readonly limits: OwnLimits }) {
  const held = others.filter((name) => limits[name] !== null);
  return (
    <>
      <ul class="bars">
        {countedLimits.map((name) => {
          const [limit, taken, rest] = [limits[name], used[name], left[name]];
          const write = facts[name].unit === 'seconds' ? formatSeconds : formatCount;
          // Without a limit, this is not counted: there is nothing to show.
          if (taken === null && limit === null) return null;
          return (
            <li key={name}>
              <span>{words.labels[name]}</span>
              {limit !== null && (
                <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                  <rect class={rest === 0 ? 'full' : undefined} width={shareOf(taken ?? 0, limit) * 100} height="1" />
                </svg>
              )}
              <span class="number">
                {limit === null
                  ? words.unlimited(write(taken ?? 0))
                  : words.ofLimit(write(taken ?? 0), write(limit), write(rest ?? 0))}
              </span>
            </li>
          );
        })}
      </ul>
      {held.length > 0 && <Facts facts={held.map((name) => [words.labels[name], textOf(limits[name])])} />}
    </>
  );
}

function textOf(limit: OwnLimits['limits'][LimitName]): string {
  if (typeof limit === 'number') return formatSeconds(limit);
  return Array.isArray(limit) ? limit.join(', ') || words.noDevice : String(limit);
}

function shareOf(used: number, limit: number): number {
  return limit === 0 ? 1 : Math.min(1, used / limit);
}
