import { useEffect, useRef, useState } from 'preact/hooks';
import { CallFailed } from '../client/public-api.ts';
import { useSigned } from '../client/use-call.ts';
import { noSweep, readJobs, readResults, type Sweep } from './sweep-source.ts';

/** Between two looks at a batch at work. */
const pauseMilliseconds = 3_000;

export interface Swept {
  readonly sweep: Sweep;
  readonly failure: CallFailed | undefined;
  readonly isLoading: boolean;
  /** Looks again for what has changed. */
  readonly reload: () => void;
}

/**
 * The jobs of a batch with their counts. They are looked at again when `version` changes, at most
 * every few seconds. Another batch, or `isErased`, begins anew. Without a batch nothing is read.
 */
export function useSweep(
  batch: { readonly id: string; readonly user_id: string; readonly erased_at?: string | null } | undefined,
  version = '',
): Swept {
  const { api } = useSigned();
  const name = batch === undefined ? '' : `${batch.id} ${batch.user_id} ${batch.erased_at ?? ''}`;
  const held = useRef({ name, sweep: noSweep, readAt: 0 });
  if (held.current.name !== name) held.current = { name, sweep: noSweep, readAt: 0 };
  const [, draw] = useState<unknown>();
  const [state, setState] = useState<{ failure?: CallFailed; isLoading: boolean }>({ isLoading: true });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (batch === undefined) return;
    const controller = new AbortController();
    const own = held.current;
    const take = (sweep: Sweep) => {
      if (controller.signal.aborted) return;
      own.sweep = sweep;
      draw({});
    };
    const load = async () => {
      setState({ isLoading: true });
      const source = { api, batch, signal: controller.signal };
      try {
        own.readAt = Date.now();
        take({ ...own.sweep, ...(await readJobs(source, own.sweep)), isWhole: false });
        await readResults(source, own.sweep, take);
        setState({ isLoading: false });
      } catch (error) {
        if (controller.signal.aborted) return;
        if (!(error instanceof CallFailed)) throw error;
        setState({ isLoading: false, failure: error });
      }
    };
    const timer = setTimeout(() => void load(), Math.max(0, own.readAt + pauseMilliseconds - Date.now()));
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [api, name, version, round]);
  const reload = () => {
    held.current.readAt = 0;
    setRound((before) => before + 1);
  };
  return { sweep: held.current.sweep, failure: state.failure, isLoading: state.isLoading, reload };
}
