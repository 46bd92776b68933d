import { formatCount } from './format.ts';
import { type Counts, partsOf } from './job-parts.ts';
import { kindOf } from './status-looks.ts';
import { texts } from './texts.ts';

/** The bar of a batch's jobs. */
function Segments({ counts }: { readonly counts: Counts }) {
  let x = 0;
  return (
    <svg class="segments" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      {partsOf(counts).map(({ status, share }) => {
        const start = x;
        x += share * 100;
        return (
          <rect key={status} class={kindOf(status)} x={start} y="0" width={Math.max(0, share * 100 - 0.6)} height="6" />
        );
      })}
    </svg>
  );
}

const failures = { ERROR: texts.jobs.failed, CANCELED: texts.jobs.canceled } as const;

/** `50 · 1 failed`, `7 of 12`: how many jobs have ended, and which of them not well. */
function JobsSum({ counts }: { readonly counts: Counts }) {
  const { PENDING = 0, RUNNING = 0, CANCELING = 0, ...ended } = counts;
  const count = Object.values(ended).reduce<number>((sum, each = 0) => sum + each, 0);
  const total = count + PENDING + RUNNING + CANCELING;
  return (
    <span>
      {count === total || count === 0
        ? formatCount(total)
        : `${formatCount(count)} ${texts.jobs.of} ${formatCount(total)}`}
      {Object.entries(failures).map(([status, word]) => {
        const each = counts[status] ?? 0;
        if (each === 0) return null;
        return (
          <span key={status}>
            {' · '}
            <span class={status === 'ERROR' ? 'failures' : undefined}>
              {formatCount(each)} {word}
            </span>
          </span>
        );
      })}
    </span>
  );
}

/** The jobs of a batch in a cell of a list: the bar, and its sum in words. */
export function JobsCell({ counts }: { readonly counts: Counts }) {
  return (
    <span class="progress">
      <Segments counts={counts} />
      <JobsSum counts={counts} />
    </span>
  );
}
