import { useState } from 'preact/hooks';
import { linkTo } from '../ui/address.ts';
import { formatNumber } from '../ui/format.ts';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { formatEstimate } from './curve-plot.tsx';
import type { PlottedJob } from './curves.ts';
import type { FigureData } from './figure-data.ts';
import type { Estimate } from './measures.ts';

const { sweep: words } = texts;

interface Props {
  readonly figure: FigureData;
  readonly isShare: boolean;
  readonly valueName: string;
  /** The atoms, where each has a value. */
  readonly rows: readonly string[] | undefined;
}

interface Row {
  readonly job: PlottedJob;
  readonly x: number;
  readonly y?: number;
  readonly values: readonly (Estimate | undefined)[];
}

/** The values of a figure. It is drawn only once it is opened. */
export function FigureTable(props: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{words.table}</summary>
      {isOpen && <Values {...props} />}
    </details>
  );
}

function Values({ figure, isShare, valueName, rows }: Props) {
  const { axes, curves, isMap } = figure;
  const names = isMap ? (rows ?? [valueName]) : curves.map(({ name }) => name);
  const columns: readonly Column<Row>[] = [
    [words.job, ({ job }) => <a href={linkTo(['job', job.id])}>{job.creation_order + 1}</a>, 'number'],
    ...(axes.x === undefined ? [] : [[axes.x.name, ({ x }: Row) => <Exact value={x} />, 'number'] as const]),
    ...(axes.y === undefined ? [] : [[axes.y.name, ({ y }: Row) => <Exact value={y!} />, 'number'] as const]),
    ...names.map(
      (name, at) =>
        [
          // Two batches may have one name.
          names.indexOf(name) === at ? name : `${name} (${at + 1})`,
          ({ values }: Row) => values[at] !== undefined && formatEstimate(values[at], isShare),
          'number',
        ] as const,
    ),
  ];
  return (
    <Table
      label={words.table}
      columns={columns}
      rows={rowsOf(figure, rows !== undefined)}
      keyOf={({ job }) => job.id}
    />
  );
}

function Exact({ value }: { readonly value: number }) {
  return <span title={String(value)}>{formatNumber(value)}</span>;
}

function rowsOf({ isMap, curves, fields }: FigureData, hasAtoms: boolean): readonly Row[] {
  if (isMap && !hasAtoms) return fields.map((field) => ({ ...field, values: [field] }));
  const found = new Map<string, Row & { values: (Estimate | undefined)[] }>();
  const take = (job: PlottedJob, x: number, at: number, estimate: Estimate) => {
    const row = found.get(job.id) ?? { job, x, values: [] };
    row.values[at] = estimate;
    found.set(job.id, row);
  };
  for (const { job, x, y, ...estimate } of fields) take(job, x, y, estimate);
  for (const [at, { points }] of curves.entries())
    for (const { job, x, ...estimate } of points) take(job, x, at, estimate);
  return [...found.values()].sort((a, b) => a.x - b.x);
}
