import { useMemo, useState } from 'preact/hooks';
import { type Loaded, useCall } from '../client/use-call.ts';
import { type Count, outcomesOf, readCounter } from '../parts/counter.ts';
import { parseJson } from '../ui/json-object.ts';

export interface Results {
  readonly call: Loaded<Record<string, unknown>>;
  /** Undefined where there is none, or none yet. */
  readonly document: unknown;
  /** As measured, most frequent first. */
  readonly counts: readonly Count[] | undefined;
  /** The same, with all outcomes of few bits. */
  readonly outcomes: readonly Count[] | undefined;
  /** They belong to the job shown before, until this one's are there. */
  readonly isOld: boolean;
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
    { query: { job_id: jobId }, keepsAnswer: true },
  );
  const answered = call.answer?.data ?? {};
  // An answer has the job that was asked for, or none.
  const [of] = Object.keys(answered);
  return useMemo(() => {
    const document = text === undefined ? of && answered[of] : parseJson(text);
    const counts = readCounter(document);
    return {
      call,
      document,
      counts,
      outcomes: counts && outcomesOf(counts),
      isOld: text === undefined && of !== undefined && of !== jobId,
      isUnreadable: text !== undefined && document === undefined,
      open: (file) => setOpened({ jobId, text: file }),
    };
  }, [call.answer, call.failure, call.isLoading, text, jobId]);
}
