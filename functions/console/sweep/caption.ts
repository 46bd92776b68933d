import { formatCount, formatNumber } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { hasBand } from './curve-plot.tsx';
import { type Measure, placesOf } from './curves.ts';
import type { FigureData, SweepSource } from './figure-data.ts';
import { unitOf } from './program.ts';
import { symbolOf, type Variable } from './variables.ts';

const { sweep: words, compare } = texts;

/** More values that all jobs share are not named. */
const maxConstants = 4;

interface Described {
  readonly figure: FigureData;
  readonly sources: readonly SweepSource[];
  readonly show: Measure;
  readonly valueName: string;
}

/** What a figure shows and what it leaves out, as below a figure in a paper. */
export function captionOf({ figure, sources, show, valueName }: Described): string {
  const { curves, isMap } = figure;
  const jobs = sources.flatMap((source) => source.jobs);
  const shots = new Set(jobs.map(({ runs }) => runs));
  const [runs] = shots;
  const ofShots =
    shots.size === 1 && runs !== undefined && runs !== null ? words.shots(formatCount(runs)) : words.itsShots;
  const isShared = curves.some(({ points, line }) => points.length > line.length);
  const isSharedPlace = placesOf(figure.fields).length < figure.fields.length;
  const failed = jobs.filter(({ status }) => status === 'ERROR').length;
  const waiting = jobs.filter(({ status }) => !['ERROR', 'DONE', 'CANCELED'].includes(status)).length;
  const canceled = jobs.filter(({ status }) => status === 'CANCELED').length;
  const others = sources.reduce((sum, source) => sum + source.others, 0);
  const unread = sources.reduce((sum, { total, jobs: read }) => sum + total - read.length, 0);
  const uncertainty = curves.some(hasBand) ? words.bands : words.whiskers;
  return [
    isMap
      ? show === 'atoms'
        ? words.atomsMap
        : words.map(show === 'ones' ? words.ones : `${words.shareOf} ${valueName}`)
      : `${uncertainty} ${ofShots}.`,
    sources.length > 1 && figure.numeric.length === 0 && compare.noShared,
    isShared && words.shared,
    isSharedPlace && words.sharedPlaces,
    failed > 0 && words.failedJobs(failed, isMap),
    waiting > 0 && words.waitingJobs(waiting, isMap),
    canceled > 0 && words.canceledJobs(canceled),
    others > 0 && words.noCounters(others),
    unread > 0 && words.unread(formatCount(jobs.length), formatCount(jobs.length + unread)),
  ]
    .filter((sentence) => typeof sentence === 'string')
    .join(' ');
}

/** `t = 660 ns in every job.` Undefined where there is none. */
export function constantsOf(
  constant: readonly Variable[],
  units: ReadonlyMap<string, string>,
  end: string = ` ${words.inEveryJob}`,
): string | undefined {
  const named = constant.filter(({ name }) => name !== 'runs').slice(0, maxConstants);
  if (named.length === 0) return undefined;
  const values = named.map(({ name, values }) => {
    const [value] = values.values();
    const unit = unitOf(units, name);
    const shown = typeof value === 'number' ? formatNumber(value) : String(value).slice(0, 40);
    return `${symbolOf(name)} = ${shown}${unit === undefined ? '' : ` ${unit}`}`;
  });
  return values.join(', ') + end;
}
