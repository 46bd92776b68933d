import { formatCount } from './format.ts';
import { StatusSign } from './status.tsx';
import { sortStatuses, statusWord } from './status-looks.ts';
import { texts } from './texts.ts';

/**
 * Statuses and how many rows have each, as links that filter by one. `counts` are those without a
 * filter on the status, so they stay while one is chosen. Statuses that no row has are left out.
 */
export function Facets({
  label,
  counts,
  chosen,
  statuses,
  isOld = false,
  linkOf,
}: {
  readonly label: string;
  /** Undefined while they are not known. */
  readonly counts: Readonly<Record<string, number>> | undefined;
  /** The statuses that the list is filtered by. */
  readonly chosen: readonly string[];
  readonly statuses: readonly string[];
  /** The counts are of what was asked before. */
  readonly isOld?: boolean;
  /** Undefined: the link to all. */
  readonly linkOf: (status: string | undefined) => string;
}) {
  const shown = sortStatuses(statuses).filter((status) => (counts?.[status] ?? 0) > 0 || chosen.includes(status));
  const total = Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0);
  return (
    <nav aria-label={label} aria-busy={isOld}>
      <ul class="facets">
        <li>
          <a href={linkOf(undefined)} aria-current={chosen.length === 0 ? 'true' : undefined}>
            {texts.common.all} {counts !== undefined && <b>{formatCount(total)}</b>}
          </a>
        </li>
        {shown.map((status) => (
          <li key={status}>
            <a href={linkOf(status)} aria-current={chosen.includes(status) ? 'true' : undefined}>
              <StatusSign status={status} />
              {statusWord(status)} {counts !== undefined && <b>{formatCount(counts[status] ?? 0)}</b>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
