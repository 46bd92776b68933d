import { useMemo, useState } from 'preact/hooks';
import type { Job } from '../../schemas/job.ts';
import type { Api } from '../client/public-api.ts';
import { useAction } from '../client/use-call.ts';
import type { Shape } from '../drawing/glyph-shape.ts';
import { csvOf, jsonOf, type Order, order, orders } from '../parts/counter.ts';
import { download, Failure, Pre } from '../ui/basics.tsx';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { CountTable } from './count-table.tsx';
import type { Results } from './use-results.ts';

const { results: words } = texts;

/** A longer document is shown in part: the browser would be busy with it. */
const maxShown = 100_000;

interface Props {
  readonly job: Pick<Job, 'id' | 'calibration'>;
  readonly results: Results;
  /** The device says that there are some. */
  readonly areExpected: boolean;
  readonly shape: Shape | undefined;
  readonly bitNames: string | undefined;
  readonly by: Order;
  readonly setBy: (by: Order) => void;
}

/** The results of a job: its counts as a table, what has none as it is, and all as files. */
export function JobResults({ job, results, areExpected, ...table }: Props) {
  const { call, document, isUnreadable, open } = results;
  const isLoading = call.isLoading && call.answer === undefined;
  return (
    <>
      {isLoading && (
        <p class="loading" role="status">
          {texts.common.loading}
        </p>
      )}
      <Failure failure={call.failure} retry={call.reload} />
      {isUnreadable && <p class="failure">{words.notJson}</p>}
      {document !== undefined && <ResultsDocument job={job} results={results} {...table} />}
      {call.answer !== undefined && !call.isLoading && document === undefined && !isUnreadable && <p>{words.none}</p>}
      {document === undefined && (areExpected || call.failure !== undefined) && !isLoading && (
        <ResultsFile jobId={job.id} open={open} />
      )}
    </>
  );
}

/** The way around what the API's answers cannot hold. */
function ResultsFile({ jobId, open }: { readonly jobId: string; readonly open: (text: string) => void }) {
  const [link, setLink] = useState<string | null>();
  const ask = useAction(async (api: Api) => {
    const { data } = await api.call<{ results_link: string | null }>(`/api/v1/jobs/${jobId}/results_link`);
    setLink(data.results_link);
  });
  return (
    <>
      <div class="bar">
        <button type="button" disabled={ask.isRunning} onClick={() => ask.run()}>
          {words.askLink}
        </button>
        {typeof link === 'string' && (
          <a class="button" href={link} target="_blank" rel="noreferrer">
            {words.link}
          </a>
        )}
        {link === null && <span>{words.none}</span>}
        <label>
          {words.openFile}
          <input
            type="file"
            accept=".json,application/json"
            onChange={({ currentTarget }) => void currentTarget.files?.[0]?.text().then(open)}
          />
        </label>
      </div>
      <Failure failure={ask.failure} />
    </>
  );
}

type DocumentProps = Omit<Props, 'areExpected'>;

function ResultsDocument({
  job: { id, calibration },
  results: { document, counts, outcomes },
  shape,
  bitNames,
  by,
  setBy,
}: DocumentProps) {
  const text = useMemo(() => JSON.stringify(document, null, 1), [document]);
  const ordered = useMemo(() => outcomes && order(outcomes, by), [outcomes, by]);
  const json = (
    <>
      <Pre text={text.slice(0, maxShown)} />
      {text.length > maxShown && <p class="aside">{words.cut}</p>}
    </>
  );
  return (
    <>
      <div class="bar">
        <h2>{counts === undefined ? words.document : words.counts}</h2>
        {outcomes !== undefined && (
          <>
            <span class="soft">{words.outcomes(outcomes.length, formatCount(outcomes.length))}</span>
            <label class="order push">
              {words.order}
              <select value={by} onChange={({ currentTarget }) => setBy(currentTarget.value as Order)}>
                {orders.map((each) => (
                  <option key={each} value={each}>
                    {words.orders[each]}
                  </option>
                ))}
              </select>
            </label>
          </>
        )}
      </div>
      {ordered !== undefined && <CountTable counts={ordered} shape={shape} bitNames={bitNames} />}
      {counts === undefined && json}
      <div class="bar">
        <button
          type="button"
          onClick={() => download(`results-${id}.json`, 'application/json', jsonOf(document, calibration))}
        >
          {words.json}
        </button>
        {counts !== undefined && (
          <button type="button" onClick={() => download(`results-${id}.csv`, 'text/csv', csvOf(counts, calibration))}>
            {words.csv}
          </button>
        )}
      </div>
      {counts !== undefined && (
        <details>
          <summary>{words.document}</summary>
          {json}
        </details>
      )}
    </>
  );
}
