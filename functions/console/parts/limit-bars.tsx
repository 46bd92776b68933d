import type { CountedLimit, OwnLimits } from '../../schemas/limits.ts';
import { Facts } from '../ui/basics.tsx';
import { formatCount, formatSeconds } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';

const { limits: words } = texts;

const counted = Object.keys(words.counted) as CountedLimit[];

/** What is used of each limit, and what is left, as bars with their figures. */
export function LimitBars({ limits: { limits, used, left } }: { readonly limits: OwnLimits }) {
  const bounds = [
    ...(limits.max_job_seconds === null
      ? []
      : [[words.others.max_job_seconds, formatSeconds(limits.max_job_seconds)] as const]),
    ...(limits.device_types === null
      ? []
      : [[words.others.device_types, limits.device_types.join(', ') || words.noDevice] as const]),
    ...(limits.highest_priority === null ? [] : [[words.others.highest_priority, limits.highest_priority] as const]),
  ];
  return (
    <>
      <ul class="bars">
        {counted.map((name) => {
          const [limit, taken, rest] = [limits[name], used[name], left[name]];
          const write = name === 'device_seconds_per_month' ? formatSeconds : formatCount;
          // What nobody counts, as it has no limit, has nothing to show.
          if (taken === null && limit === null) return null;
          return (
            <li key={name}>
              <span>{words.counted[name]}</span>
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
      {bounds.length > 0 && <Facts facts={bounds} />}
    </>
  );
}

function shareOf(used: number, limit: number): number {
  return limit === 0 ? 1 : Math.min(1, used / limit);
}
