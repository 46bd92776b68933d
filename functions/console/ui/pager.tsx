import type { Pagination } from '../client/public-api.ts';
import { formatCount } from './format.ts';
import { texts } from './texts.ts';

/** Rows of a page. */
const limits = [50, 100] as const;

/** Where a page is in its list, and the links to its neighbors and to both ends. */
export function Pager({
  pagination,
  limit,
  linkTo,
  linkToLimit,
}: {
  /** Undefined until the first answer. */
  readonly pagination: Pagination | undefined;
  readonly limit: number;
  readonly linkTo: (offset: number) => string;
  /** Where the length of a page can be chosen. */
  readonly linkToLimit?: (limit: number) => string;
}) {
  if (pagination === undefined || pagination.total === 0) return null;
  const { total, start, end } = pagination;
  return (
    <nav class="pager" aria-label="Pages">
      <span>
        {start > limit && <a href={linkTo(0)}>{texts.common.first}</a>}
        {start > 0 && <a href={linkTo(Math.max(0, start - limit))}>{texts.common.less}</a>}
      </span>
      <PageRange first={Math.min(start + 1, end)} last={end} total={total} />
      <span>
        {end < total && <a href={linkTo(end)}>{texts.common.more}</a>}
        {linkToLimit !== undefined && total > limits[0] && (
          <a href={linkToLimit(limits.find((each) => each !== limit) ?? limits[0])}>
            {texts.common.pageOf(limits.find((each) => each !== limit) ?? limits[0])}
          </a>
        )}
        {end + limit < total && <a href={linkTo(total - (total % limit || limit))}>{texts.common.last}</a>}
      </span>
    </nav>
  );
}

interface RangeProps {
  /** Numbers of its rows, from 1. */
  readonly first: number;
  readonly last: number;
  readonly total: number;
}

/** `51 to 100 of 1,204`. */
export function PageRange({ first, last, total }: RangeProps) {
  return (
    <span>
      {formatCount(first)} to {formatCount(last)} of <strong>{formatCount(total)}</strong>
    </span>
  );
}
