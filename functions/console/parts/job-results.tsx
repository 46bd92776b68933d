import { useMemo, useState } from 'preact/hooks';
import type { Api } from '../client/public-api.ts';
import { useAction, useCall } from '../client/use-call.ts';
import { download, Failure, Pre } from '../ui/basics.tsx';
import { parseJson } from '../ui/json-object.ts';
import { texts } from '../ui/texts.ts';
import { csvOf, readCounter } from './counter.ts';
import { Histogram } from './histogram.tsx';

const { results: words } = texts;

/** A longer document is shown in part: the browser would be busy with it. */
const maxShown = 100_000;

interface Props {
  readonly jobId: string;
  readonly batchId: string;
  /** The device says that there are some. */
  readonly areExpected: boolean;
}

/**
 * The results of a job. The page may call no host but the API. Where a document exceeds one answer,
 * people download it by its link, and may open that file here.
 */
export function JobResults({ jobId, batchId, areExpected }: Props) {
  const [opened, setOpened] = useState<string>();
  const path = `/api/v1/batches/${batchId}/full_results`;
  const results = useCall<Record<string, unknown>>(opened === undefined ? path : null, { query: { job_id: jobId } });
  if (opened !== undefined) return <ResultsText text={opened} name={jobId} />;
  const document = results.answer?.data[jobId];
  return (
    <>
      {results.isLoading && results.answer === undefined && (
        <p class="loading" role="status">
          {texts.common.loading}
        </p>
      )}
      <Failure failure={results.failure} retry={results.reload} />
      {document !== undefined && <ResultsDocument document={document} name={jobId} />}
      {results.answer !== undefined && document === undefined && <p>{words.none}</p>}
      {document === undefined && (areExpected || results.failure !== undefined) && !results.isLoading && (
        <ResultsFile jobId={jobId} open={setOpened} />
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
      <div class="actions">
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

function ResultsText({ text, name }: { readonly text: string; readonly name: string }) {
  const document = useMemo(() => parseJson(text), [text]);
  return document === undefined ? (
    <p class="failure">{words.notJson}</p>
  ) : (
    <ResultsDocument document={document} name={name} />
  );
}

/** A counter as a histogram; what has none as it is. */
function ResultsDocument({ document, name }: { readonly document: unknown; readonly name: string }) {
  const counts = useMemo(() => readCounter(document), [document]);
  const text = useMemo(() => JSON.stringify(document, null, 1), [document]);
  const json = (
    <>
      <Pre text={text.slice(0, maxShown)} />
      {text.length > maxShown && <p class="aside">{words.cut}</p>}
    </>
  );
  return (
    <>
      {counts !== undefined && <Histogram counts={counts} />}
      {counts === undefined ? (
        json
      ) : (
        <details>
          <summary>{words.document}</summary>
          {json}
        </details>
      )}
      <div class="actions">
        <button
          type="button"
          onClick={() => download(`results-${name}.json`, 'application/json', JSON.stringify(document))}
        >
          {words.json}
        </button>
        {counts !== undefined && (
          <button type="button" onClick={() => download(`results-${name}.csv`, 'text/csv', csvOf(counts))}>
            {words.csv}
          </button>
        )}
      </div>
    </>
  );
}
