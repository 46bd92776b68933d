import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, type Api, CallFailed, type Query, queryText } from './public-api.ts';
import type { Session } from './sign-in.ts';

/** Who has signed in, and the API for them. */
export const Signed = createContext<{ readonly api: Api; readonly session: Session } | undefined>(undefined);

export function useSigned() {
  const signed = useContext(Signed);
  if (signed === undefined) throw new Error('A view needs a session.');
  return signed;
}

export interface Loaded<Data> {
  /** The last answer; undefined until the first one. It stays while a later call fails. */
  readonly answer: Answer<Data> | undefined;
  readonly failure: CallFailed | undefined;
  readonly isLoading: boolean;
  /** The answer is of what was asked before, and stays until the next one comes. */
  readonly isOld: boolean;
  /** Calls again now. */
  readonly reload: () => void;
}

interface Loading {
  readonly query?: Query;
  /**
   * Shows the last answer until the next one comes, also where the query has changed: what has the
   * focus stays.
   */
  readonly keepsAnswer?: boolean;
  /**
   * Seconds until the next call, from the answer; undefined: none. Where the service asked for
   * another pace, that is used. Nothing is called while the page is hidden.
   */
  readonly again?: (answer: Answer<never>) => number | undefined;
}

/**
 * Calls GET now, and again whenever path or query change. A null path calls nothing. Answers that
 * come after the next call has begun are dropped.
 */
export function useCall<Data>(
  path: string | null,
  { query = {}, again, keepsAnswer = false }: Loading = {},
): Loaded<Data> {
  const { api } = useSigned();
  const name = path === null ? null : path + queryText(query);
  const [state, setState] = useState<{ name: string | null; answer?: Answer<Data>; failure?: CallFailed }>({ name });
  const [round, setRound] = useState(0);
  const [isLoading, setLoading] = useState(name !== null);
  const againRef = useRef(again);
  againRef.current = again;
  useEffect(() => {
    if (name === null) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async () => {
      setLoading(true);
      let seconds: number | undefined;
      try {
        const answer = await api.call<Data>(name, { signal: controller.signal });
        setState({ name, answer });
        seconds = againRef.current?.(answer as Answer<never>);
        if (seconds !== undefined) seconds = answer.retryAfter ?? seconds;
      } catch (error) {
        if (controller.signal.aborted) return;
        if (!(error instanceof CallFailed)) throw error;
        setState((before) => (before.name === name ? { ...before, failure: error } : { name, failure: error }));
        // A service that is away or busy for a moment is asked again.
        const isPassing = error.status === 0 || error.status === 429 || error.status >= 500;
        if (againRef.current !== undefined && isPassing) seconds = 15;
      }
      setLoading(false);
      if (seconds !== undefined) timer = setTimeout(whenShown, seconds * 1_000);
    };
    const whenShown = () => {
      if (document.hidden)
        document.addEventListener('visibilitychange', whenShown, { once: true, signal: controller.signal });
      else void load();
    };
    void load();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [api, name, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const isCurrent = state.name === name;
  return {
    answer: isCurrent || (keepsAnswer && name !== null) ? state.answer : undefined,
    failure: isCurrent ? state.failure : undefined,
    isLoading,
    isOld: !isCurrent && keepsAnswer && name !== null && state.answer !== undefined,
    reload,
  };
}

export interface Action<Parameters extends readonly unknown[]> {
  readonly run: (...parameters: Parameters) => void;
  readonly isRunning: boolean;
  readonly failure: CallFailed | undefined;
}

/** A call that changes something: one at a time, and what it was refused for. */
export function useAction<Parameters extends readonly unknown[]>(
  act: (api: Api, ...parameters: Parameters) => Promise<void>,
): Action<Parameters> {
  const { api } = useSigned();
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<CallFailed>();
  const run = async (...parameters: Parameters) => {
    if (isRunning) return;
    setRunning(true);
    setFailure(undefined);
    try {
      await act(api, ...parameters);
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      setFailure(error);
    } finally {
      setRunning(false);
    }
  };
  return { run: (...parameters) => void run(...parameters), isRunning, failure };
}
