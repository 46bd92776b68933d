import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { OwnLimits } from '../../schemas/limits.ts';
import type { Fault } from '../client/fault-places.ts';
import { type Api, CallFailed } from '../client/public-api.ts';
import { type Action, useAction, useSigned } from '../client/use-call.ts';
import { currentFaults } from './current-faults.ts';
import type { Draft } from './draft.ts';

/** What a check answers, without creating anything. */
export interface Verdict {
  readonly faults: readonly Fault[];
  readonly estimated_start?: { readonly earliest: string; readonly likely: string; readonly latest: string } | null;
  readonly estimated_start_reason?: string | null;
  readonly limits?: OwnLimits | null;
  /** What was not judged, and why. Services before this member judge no values of variables. */
  readonly left_to_device?: readonly Pick<Fault, 'loc' | 'msg'>[];
}

export interface Sending {
  readonly act: Action<['check' | 'send']>;
  /** What is wrong with what is in the form now, as far as it is known. */
  readonly faults: readonly Fault[];
  /** The last answer; undefined until the first, and while texts are no values. */
  readonly verdict: Verdict | undefined;
  /** Whether the form has changed since then. */
  readonly isOld: boolean;
  /** How often someone asked for a check that found faults. */
  readonly refusals: number;
  /** Whether a cell or the program is still empty, or cannot be read. */
  readonly isUnread: boolean;
  /** What a check that runs by itself is doing. */
  readonly checking: 'begun' | 'failed' | undefined;
  /** Whether it is checked without being asked. */
  readonly isAutomatic: boolean;
}

interface Sent {
  readonly path: string;
  readonly draft: Draft;
  readonly request: { readonly body: object; readonly faults: readonly Fault[] };
  /** Whether it can be sent at all. */
  readonly isComplete: boolean;
  readonly finish: (created: { readonly id: string }) => void;
}

/** How long after the last change it is checked. */
const settleMilliseconds = 900;

/** A longer program is checked only when someone asks: each check sends it. */
const maxAutomaticCharacters = 500_000;

/** Checks a form while it is filled in, and sends it. A draft that is sent twice is made once. */
export function useSending({ path, draft, request, isComplete, finish }: Sent): Sending {
  const [answer, setAnswer] = useState<{ verdict: Verdict; draft: Draft; body: string }>();
  const [isInsisted, setInsisted] = useState(false);
  const [checking, setChecking] = useState<Sending['checking']>();
  const [refusals, setRefusals] = useState(0);
  const { api } = useSigned();
  const isAutomatic = isComplete && draft.text.length + draft.jobs.length * 100 <= maxAutomaticCharacters;
  const body = useMemo(() => JSON.stringify(request.body), [request]);
  const check = async (signal?: AbortSignal) => {
    const call = { method: 'POST' as const, body: request.body, query: { validate_only: true } };
    const judged = await judge(api, path, { ...call, ...(signal !== undefined && { signal }) });
    if (!('id' in judged)) setAnswer({ verdict: judged, draft, body });
    return judged;
  };
  useEffect(() => {
    if (!isAutomatic || request.faults.length > 0) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      setChecking('begun');
      // Why it could not be checked is shown to who asks for it.
      check(controller.signal).then(
        () => setChecking(undefined),
        () => controller.signal.aborted || setChecking('failed'),
      );
    }, settleMilliseconds);
    return () => {
      setChecking(undefined);
      clearTimeout(timer);
      controller.abort();
    };
  }, [body, isAutomatic]);
  const act = useAction(async (_: Api, how: 'check' | 'send') => {
    setInsisted(true);
    if (request.faults.length > 0) return setRefusals((before) => before + 1);
    const judged = await check();
    // A service that knows no checks has created it.
    if ('id' in judged) return finish(judged);
    if (judged.faults.length > 0) return setRefusals((before) => before + 1);
    if (how === 'check') return;
    const call = { method: 'POST' as const, body: request.body, idempotencyKey: draft.key };
    finish((await api.call<{ id: string }>(path, call)).data);
  });
  const isOld = answer !== undefined && answer.body !== body;
  const faults = useMemo(
    () => currentFaults(draft, request.faults, answer, isInsisted),
    [answer, draft, request, isInsisted],
  );
  const verdict = request.faults.length > 0 ? undefined : answer?.verdict;
  const isUnread = request.faults.length > 0;
  return { act, faults, verdict, isOld, refusals, isUnread, checking, isAutomatic };
}

async function judge(api: Api, path: string, call: object): Promise<Verdict | { readonly id: string }> {
  try {
    return (await api.call<Verdict | { readonly id: string }>(path, call)).data;
  } catch (error) {
    // Its faults are shown as a check's are.
    if (error instanceof CallFailed && error.faults.length > 0) return { faults: error.faults };
    throw error;
  }
}

/** Gives the focus to the first field with a fault, after a check that someone asked for. */
export function useFocusOnFault(refusals: number) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (refusals > 0) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [refusals]);
  return form;
}
