import { useMemo, useState } from 'preact/hooks';
import { type Loaded, useCall } from '../client/use-call.ts';
import { parseJson } from '../ui/json-object.ts';
import { type Count, outcomesOf, readCounter } from './counter.ts';

export interface Results {
  readonly call: Loaded<Record<string, unknown>>;
  /** Undefined where there is none, or none yet. */
  readonly document: unknown;
  /** As measured, most frequent first. */
  readonly counts: readonly Count[] | undefined;
  /** The same, with all outcomes of few bits. */
  readonly outcomes: readonly Count[] | undefined;
  /** A file that was opened is no JSON. */
  readonly isUnreadable: boolean;
  /** Shows a downloaded file instead of what the API answers. */
  readonly open: (text: string) => void;
}

/**
 * The results of a job. The page may call no host but the API. Where a document exceeds one answer,
 * people download it by its link, and may open that file here.
 */
export function useResults(jobId: string, batchId: string, hasEnded: boolean): Results {
  const [opened, setOpened] = useState<{ readonly jobId: string; readonly text: string }>();
  const text = opened?.jobId === jobId ? opened.text : undefined;
  const call = useCall<Record<string, unknown>>(
    hasEnded && text === undefined ? `/api/v1/batches/${batchId}/full_results` : null,
    { query: { job_id: jobId } },
  );
  const answered = call.answer?.data[jobId];
  return useMemo(() => {
    const document = text === undefined ? answered : parseJson(text);
    const counts = readCounter(document);
    return {
      call,
      document,
      counts,
      outcomes: counts && outcomesOf(counts),
      isUnreadable: text !== undefined && document === undefined,
      open: (file) => setOpened({ jobId, text: file }),
    };
  }, [call.answer, call.failure, call.isLoading, text, jobId]);
}
