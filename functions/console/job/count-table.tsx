import { useState } from 'preact/hooks';
import { Glyph } from '../drawing/glyph.tsx';
import type { Shape } from '../drawing/glyph-shape.ts';
import { type Count, deviationOf, fractionOf, onesOf, totalOf } from '../parts/counter.ts';
import { formatCount, formatShare } from '../ui/format.ts';
import { PageRange } from '../ui/pager.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';

const { counts: words } = texts;

/** Rows until all are asked for, and rows of a page then. */
const firstRows = 8;
const pageRows = 50;

/** Longer bitstrings take several lines. */
const maxLine = 30;

interface Props {
  /** In the order in which they are shown. */
  readonly counts: readonly Count[];
  readonly shape: Shape | undefined;
  /** Names of the first and the last qubit, where each bit is one. */
  readonly bitNames: string | undefined;
}

/** Each outcome with its shots, their share, its uncertainty, and how many bits are 1. */
export function CountTable({ counts, shape, bitNames }: Props) {
  const [page, setPage] = useState(0);
  const [isWhole, setWhole] = useState(false);
  const total = totalOf(counts);
  const size = isWhole ? pageRows : firstRows;
  const pages = Math.ceil(counts.length / size);
  const start = isWhole ? Math.min(page, pages - 1) * size : 0;
  const columns: readonly Column<Count>[] = [
    [
      bitNames === undefined ? words.outcome : `${words.outcome} ${bitNames}`,
      ({ bits }) => (
        <>
          {shape !== undefined && (
            <svg class="glyph" width={shape.width} height={shape.height} aria-hidden="true">
              <Glyph bits={bits} shape={shape} />
            </svg>
          )}
          <span class="bits">{bits}</span>
        </>
      ),
      counts.some(({ bits }) => bits.length > maxLine) ? 'text' : undefined,
    ],
    [words.shots, ({ count }) => formatCount(count), 'number'],
    [words.share, ({ count }) => formatShare(fractionOf(count, total)), 'number'],
    [words.deviation, ({ count }) => `± ${(100 * deviationOf(count, total)).toFixed(1)}`, 'number'],
    [words.ones, ({ bits }) => onesOf(bits), 'number'],
  ];
  return (
    <>
      <Table
        label={words.table}
        columns={columns}
        rows={counts.slice(start, start + size)}
        keyOf={({ bits }) => bits}
      />
      {!isWhole && counts.length > firstRows && (
        <div>
          <button type="button" onClick={() => setWhole(true)}>
            {words.showAll(formatCount(counts.length))}
          </button>
        </div>
      )}
      {isWhole && pages > 1 && (
        <div class="pager">
          <button type="button" disabled={start === 0} onClick={() => setPage(page - 1)}>
            {texts.common.less}
          </button>
          <PageRange first={start + 1} last={Math.min(start + size, counts.length)} total={counts.length} />
          <button type="button" disabled={page + 1 >= pages} onClick={() => setPage(page + 1)}>
            {texts.common.more}
          </button>
        </div>
      )}
    </>
  );
}
