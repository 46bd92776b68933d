import { formatCount } from './format.ts';
import { Status } from './status.tsx';

/** Counts by status, as a bar and in figures. `linkOf` makes each a filter. */
export function StatusBar({
  counts,
  linkOf,
}: {
  readonly counts: Readonly<Record<string, number>>;
  readonly linkOf?: (status: string) => string;
}) {
  const shown = Object.entries(counts).filter(([, count]) => count > 0);
  const total = shown.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  let x = 0;
  return (
    <div class="status-bar">
      <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        {shown.map(([status, count]) => {
          const width = (count / total) * 1_000;
          x += width;
          return <rect key={status} class={status.toLowerCase()} x={x - width} y="0" width={width} height="10" />;
        })}
      </svg>
      <ul>
        {shown.map(([status, count]) => (
          <li key={status}>
            {linkOf === undefined ? (
              <Status status={status} />
            ) : (
              <a href={linkOf(status)}>
                <Status status={status} />
              </a>
            )}{' '}
            {formatCount(count)}
          </li>
        ))}
      </ul>
    </div>
  );
}
