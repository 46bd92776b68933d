import type { Pagination } from '../client/public-api.ts';
import { formatCount } from './format.ts';
import { texts } from './texts.ts';

/** Where a page is in its list, and the links to its neighbors and to both ends. */
export function Pager({
  pagination,
  limit,
  linkTo,
}: {
  /** Undefined until the first answer. */
  readonly pagination: Pagination | undefined;
  readonly limit: number;
  readonly linkTo: (offset: number) => string;
}) {
  if (pagination === undefined || pagination.total === 0) return null;
  const { total, start, end } = pagination;
  return (
    <nav class="pager" aria-label="Pages">
      <span>
        {start > limit && <a href={linkTo(0)}>{texts.common.first}</a>}
        {start > 0 && <a href={linkTo(Math.max(0, start - limit))}>{texts.common.less}</a>}
      </span>
      <span>
        {formatCount(Math.min(start + 1, end))} to {formatCount(end)} of <strong>{formatCount(total)}</strong>
      </span>
      <span>
        {end < total && <a href={linkTo(end)}>{texts.common.more}</a>}
        {end + limit < total && <a href={linkTo(total - (total % limit || limit))}>{texts.common.last}</a>}
      </span>
    </nav>
  );
}
