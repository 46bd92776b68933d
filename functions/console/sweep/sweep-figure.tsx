import { useMemo, useState } from 'preact/hooks';
import { lengthOf } from '../parts/counter.ts';
import { go, linkTo } from '../ui/address.ts';
import { fileName } from '../ui/file-name.ts';
import { formatNumber } from '../ui/format.ts';
import type { AxisTitle } from '../ui/plot-frame.tsx';
import { saveFigure } from '../ui/save-figure.ts';
import { texts } from '../ui/texts.ts';
import { captionOf, constantsOf } from './caption.ts';
import { CurvePlot } from './curve-plot.tsx';
import { type Measure, measures, type PlottedJob } from './curves.ts';
import { byNumber, noSecond, useFigureAddress } from './figure-address.ts';
import { type FigureData, figureOf, type SweepSource } from './figure-data.ts';
import { FigureTable } from './figure-table.tsx';
import { MapPlot } from './map-plot.tsx';
import type { Peaks } from './measures.ts';
import { Dot, OutcomeLegend } from './outcome-legend.tsx';
import { unitOf } from './program.ts';
import { symbolOf, type Variable } from './variables.ts';

const { sweep: words } = texts;

/** Bitstrings that a person may choose from. */
const maxOffered = 64;

interface Props {
  /** Of the picture when it is saved. */
  readonly title: string;
  /** One batch, or several that are compared. */
  readonly sources: readonly SweepSource[];
  /** The bitstrings that are frequent in some job of them. */
  readonly peaks: Peaks;
  /** By the names of variables. */
  readonly units: ReadonlyMap<string, string>;
  readonly atoms: readonly string[];
  /** Results are still being read. */
  readonly isReading: boolean;
  /** Further jobs are to come. */
  readonly isAtWork: boolean;
  readonly marked: string | undefined;
  readonly mark: (jobId: string | undefined) => void;
}

/** What a sweep measured over what it varied: curves, or a map. One job alone has no figure. */
export function SweepFigure(props: Props) {
  const { title, sources, peaks, units, isAtWork, isReading } = props;
  const { choice: chosen, change } = useFigureAddress();
  // Atoms of several sweeps would be maps beside each other.
  const show = sources.length > 1 && chosen.show === 'atoms' ? 'ones' : chosen.show;
  const choice = { ...chosen, show };
  const atoms = useMemo(() => atomNames(props.atoms, sources), [props.atoms, sources]);
  const figure = useMemo(
    () => figureOf(sources, choice, peaks, atoms),
    [sources, JSON.stringify(choice), peaks, atoms],
  );
  const { axes, outcomes, isMap } = figure;
  const isSingle = sources.length > 1 || (isMap && choice.show === 'bits');
  const titleOf = (variable: Variable | undefined): AxisTitle =>
    variable === undefined
      ? { symbol: words.job }
      : { symbol: symbolOf(variable.name), unit: unitOf(units, variable.name), isVariable: true };
  const heading = `${words.measures[choice.show]} ${words.over} ${axes.x === undefined ? words.orderOfJobs : symbolOf(axes.x.name)}${isMap && axes.y !== undefined ? ` ${words.and} ${symbolOf(axes.y.name)}` : ''}`;
  return (
    <section class="card sweep" aria-labelledby="sweep-heading">
      <div class="bar">
        <h2 id="sweep-heading">
          <span class="paper">{title}: </span>
          {heading}
        </h2>
        <Choices figure={figure} show={choice.show} hasAtoms={sources.length === 1} change={change} />
      </div>
      {choice.show === 'bits' && peaks.length > 0 && (
        <OutcomeLegend
          outcomes={isSingle ? outcomes.slice(0, 1) : outcomes}
          offered={peaks.slice(0, maxOffered).map(({ bits }) => bits)}
          isSingle={isSingle}
          change={(next) => change({ outcomes: next })}
        />
      )}
      {sources.length > 1 && (
        <ul class="sweep-legend">
          {sources.map(({ name, link }, at) => (
            <li key={link}>
              <Dot series={at + 1} />
              <bdi>{name}</bdi>
            </li>
          ))}
        </ul>
      )}
      {figure.count === 0 ? (
        <p class={isReading ? 'sweep-none reading' : 'sweep-none'} role="status">
          {isReading ? words.reading : peaks.length > 0 ? words.notMeasured : isAtWork ? words.begins : words.noCounts}
        </p>
      ) : (
        <Drawing {...props} atoms={atoms} figure={figure} show={choice.show} heading={heading} titleOf={titleOf} />
      )}
    </section>
  );
}

/** Where the program does not name as many atoms as there are bits, their numbers. */
function atomNames(names: readonly string[], sources: readonly SweepSource[]): readonly string[] {
  const [first] = sources.flatMap(({ counts }) => [...counts.values()].slice(0, 1));
  const length = first === undefined ? 0 : (lengthOf(first) ?? 0);
  return names.length === length ? names : Array.from({ length }, (_, at) => String(at));
}

interface ChoicesProps {
  readonly figure: FigureData;
  readonly show: Measure;
  readonly hasAtoms: boolean;
  readonly change: ReturnType<typeof useFigureAddress>['change'];
}

function Choices({ figure: { axes, numeric }, show, hasAtoms, change }: ChoicesProps) {
  const seconds = numeric.filter((each) => each !== axes.x);
  return (
    <div class="bar push">
      <fieldset class="choice" aria-label={words.shows}>
        {measures
          .filter((each) => each !== 'atoms' || hasAtoms)
          .map((each) => (
            <label key={each}>
              <input type="radio" name="sweep-show" checked={each === show} onChange={() => change({ show: each })} />
              {words.choices[each]}
            </label>
          ))}
      </fieldset>
      {numeric.length > 0 && (
        <label class="beside">
          x
          <select
            aria-label={words.xAxis}
            value={axes.x?.name ?? byNumber}
            onChange={({ currentTarget }) => change({ x: currentTarget.value, over: undefined })}
          >
            {numeric.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
            <option value={byNumber}>{words.order}</option>
          </select>
        </label>
      )}
      {seconds.length > 0 && axes.x !== undefined && hasAtoms && show !== 'atoms' && (
        <label class="beside">
          {words.mapOver}
          <select
            aria-label={words.secondAxis}
            value={axes.y?.name ?? noSecond}
            onChange={({ currentTarget }) => change({ over: currentTarget.value })}
          >
            <option value={noSecond}>{words.noMap}</option>
            {seconds.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}

interface DrawingProps extends Props {
  readonly figure: FigureData;
  readonly show: Measure;
  readonly heading: string;
  readonly titleOf: (variable: Variable | undefined) => AxisTitle;
}

function Drawing(props: DrawingProps) {
  const { title, sources, units, atoms, marked, mark, figure, show, heading, titleOf } = props;
  const { axes, isMap, curves, gaps, fields, empty, outcomes } = figure;
  const [row, setRow] = useState(0);
  const isShare = show !== 'ones';
  const valueName = show === 'bits' ? (outcomes[0] ?? []).join(' + ') : words.ones;
  const batchOf = ({ id }: PlottedJob) =>
    sources.length === 1 ? [] : sources.filter(({ jobs }) => jobs.some((job) => job.id === id)).map(({ name }) => name);
  const whereOf = ({ job, x, y }: { readonly job: PlottedJob; readonly x: number; readonly y?: number }) =>
    [
      ...batchOf(job),
      `${words.job} ${job.creation_order + 1}`,
      ...(axes.x === undefined ? [] : [`${symbolOf(axes.x.name)} = ${formatNumber(x)}`]),
      ...(axes.y === undefined || y === undefined || show === 'atoms'
        ? []
        : [`${symbolOf(axes.y.name)} = ${formatNumber(y)}`]),
    ].join(' · ');
  const caption = captionOf({ figure, sources, show, valueName });
  const shared = {
    ...{ xTitle: titleOf(axes.x), isShare, isNumbered: axes.x === undefined, whereOf },
    description: `${heading}. ${caption}`,
    open: (jobId: string) => go(linkTo(['job', jobId])),
  };
  return (
    <figure>
      {isMap ? (
        <MapPlot
          {...{ ...shared, fields, empty, valueName }}
          yTitle={show === 'atoms' ? { symbol: words.atom } : titleOf(axes.y)}
          rows={show === 'atoms' ? atoms : undefined}
          marked={marked === undefined ? undefined : { job: marked, row }}
          mark={(job, next) => {
            setRow(next);
            mark(job);
          }}
        />
      ) : (
        <CurvePlot
          {...{ ...shared, curves, gaps, marked, mark }}
          areNamed={sources.length === 1}
          yTitle={{
            symbol: show === 'bits' ? (sources.length > 1 ? `${words.shareOf} ${valueName}` : words.share) : words.ones,
          }}
        />
      )}
      <figcaption>
        {caption}
        {/* The page has these values elsewhere. */}
        <span class="paper"> {constantsOf(figure.variables.constant, units)}</span>
        <span class="screen"> {words.openHint}</span> <Save title={`${title}: ${heading}`} />
      </figcaption>
      <FigureTable
        figure={figure}
        isShare={isShare}
        valueName={valueName}
        rows={show === 'atoms' ? atoms : undefined}
      />
    </figure>
  );
}

/** The figure as a file: as wide on every screen, and in the light theme, for papers. */
function Save({ title }: { readonly title: string }) {
  const [hasFailed, setFailed] = useState(false);
  const name = fileName(title);
  const save = async (button: Element, format: 'svg' | 'png') => {
    const figure = button.closest('.sweep')!;
    figure.classList.add('on-paper');
    // It looks at the figure before it waits for anything.
    const saving = saveFigure(figure, name, format);
    figure.classList.remove('on-paper');
    await saving.then(
      () => setFailed(false),
      () => setFailed(true),
    );
  };
  return (
    <span class="sweep-save">
      {(['svg', 'png'] as const).map((format) => (
        <button key={format} type="button" onClick={({ currentTarget }) => void save(currentTarget, format)}>
          {words.save[format]}
        </button>
      ))}
      {hasFailed && <span role="alert"> {words.noPng}</span>}
    </span>
  );
}
