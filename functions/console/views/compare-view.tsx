import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ReadBatch } from '../../schemas/batch.ts';
import { useCall } from '../client/use-call.ts';
import { constantsOf } from '../sweep/caption.ts';
import type { SweepSource } from '../sweep/figure-data.ts';
import { maxCurves, peaksOf } from '../sweep/measures.ts';
import { programOf } from '../sweep/program.ts';
import { SweepFigure } from '../sweep/sweep-figure.tsx';
import { sourceOf } from '../sweep/sweep-source.ts';
import { useSweep } from '../sweep/use-sweep.ts';
import { readVariables } from '../sweep/variables.ts';
import { go, linkTo, useAddress } from '../ui/address.ts';
import { Empty, Failure, Time } from '../ui/basics.tsx';
import { Crumbs } from '../ui/crumbs.tsx';
import { NameForm } from '../ui/form.tsx';
import { formatCount } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { idIn, titleOf } from './batch-head.tsx';

const { compare: words } = texts;

interface Read {
  readonly batch: ReadBatch;
  readonly source: SweepSource;
  /** All its results are here, or cannot be read. */
  readonly isWhole: boolean;
}

/** The jobs of several batches in one figure: `#/compare/ID,ID`. Each batch is a curve. */
export function CompareView() {
  const { path } = useAddress();
  const all = [...new Set((path[1] ?? '').split(',').map((id) => id.trim()))].filter((id) => id !== '');
  const ids = all.slice(0, maxCurves);
  const [read, setRead] = useState<ReadonlyMap<string, Read>>(new Map());
  const [marked, mark] = useState<string>();
  const shown = ids.flatMap((id) => read.get(id) ?? []);
  const sources = useMemo(() => withNames(shown), [read, ids.join()]);
  const peaks = useMemo(() => peaksOf(sources.flatMap(({ counts }) => [...counts.values()])), [sources]);
  const { units, atoms } = useMemo(() => programOf(shown[0]?.batch.sequence_builder ?? null), [shown[0]?.batch.id]);
  const link = (next: readonly string[]) => linkTo(['compare', next.join(',')]);
  return (
    <>
      <Crumbs links={[[texts.views.batches, linkTo(['batches'])]]}>{words.title}</Crumbs>
      <div class="head">
        <h1>{words.title}</h1>
      </div>
      {ids.length === 0 && <Empty>{words.missing}</Empty>}
      {all.length > ids.length && <p>{words.tooMany(maxCurves)}</p>}
      {ids.map((id) => (
        <Source key={id} id={id} take={(each) => setRead((before) => new Map(before).set(id, each))} />
      ))}
      {sources.length > 0 && (
        <SweepFigure
          title={words.title}
          sources={sources}
          {...{ peaks, units, atoms, marked, mark }}
          isAtWork={false}
          isReading={shown.some(({ isWhole }) => !isWhole)}
        />
      )}
      {shown.length > 0 && (
        <div class="sweep-below">
          <Table
            label={words.title}
            columns={columnsOf((id) => link(ids.filter((each) => each !== id)))}
            rows={shown.map((each, at) => ({ ...each, source: sources[at]! }))}
            keyOf={({ batch }) => batch.id}
          />
        </div>
      )}
      <NameForm label={words.hint} button={words.open} submit={(id) => go(link([...ids, idIn(id)]))} />
    </>
  );
}

/** Batches of one name have their ids behind it. */
function withNames(read: readonly Read[]): readonly SweepSource[] {
  const names = read.map(({ source }) => source.name);
  return read.map(({ batch, source }, at) => {
    const isShared = names.some((name, other) => other !== at && name === source.name);
    return isShared ? { ...source, name: `${source.name} ${batch.id.slice(0, 8)}` } : source;
  });
}

function columnsOf(linkWithout: (id: string) => string): readonly Column<Read>[] {
  return [
    [words.columns.name, ({ source }) => <a href={source.link}>{<bdi>{source.name}</bdi>}</a>],
    [words.columns.status, ({ batch }) => <Status status={batch.status} />],
    [words.columns.device, ({ batch }) => batch.device_type],
    [words.columns.jobs, ({ batch }) => formatCount(batch.jobs_count), 'number'],
    [words.columns.constants, ({ source }) => constantsOf(readVariables(source.jobs).constant, new Map(), ''), 'text'],
    [words.columns.created, ({ batch }) => <Time time={batch.created_at} />, 'number'],
    [
      words.columns.remove,
      ({ batch }) => (
        <a class="button quiet tiny" href={linkWithout(batch.id)} aria-label={words.remove}>
          <Icon name="cross" />
        </a>
      ),
    ],
  ];
}

/** Reads one batch and its sweep, and shows only why that failed. */
function Source({ id, take }: { readonly id: string; readonly take: (read: Read) => void }) {
  const call = useCall<ReadBatch>(`/api/v2/batches/${encodeURIComponent(id)}`);
  const batch = call.answer?.data;
  const isErased = batch !== undefined && batch.erased_at !== null;
  const { sweep, failure, isLoading, reload } = useSweep(isErased ? undefined : batch);
  const isWhole = isErased || sweep.isWhole || !isLoading;
  useEffect(() => {
    if (batch === undefined) return;
    take({ batch, isWhole, source: sourceOf(titleOf(batch), linkTo(['batch', batch.id]), sweep) });
  }, [batch, sweep, isWhole]);
  return (
    <>
      <Failure failure={call.failure} retry={call.reload} />
      {isErased && (
        <p class="notice">
          <bdi>{titleOf(batch)}</bdi>: {texts.batch.erased}
        </p>
      )}
      <Failure failure={failure} retry={reload} />
    </>
  );
}
