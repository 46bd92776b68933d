import { useEffect, useState } from 'preact/hooks';
import type { Preview } from '../../schemas/preview.ts';
import { CallFailed } from '../client/public-api.ts';
import { useSigned } from '../client/use-call.ts';

/** How long nothing is typed before a form is looked at. */
const restMilliseconds = 400;

/** An act that can be looked at before it is done: a call, without the query that only looks. */
interface PreviewableAct {
  readonly path: string;
  readonly method: 'PATCH' | 'PUT' | 'DELETE';
  readonly body?: object;
}

export interface Previewed {
  /** What the act would do; undefined until that is known. */
  readonly preview: Preview | undefined;
  readonly failure: CallFailed | undefined;
  /** The form has changed since: an answer is under way. */
  readonly isOld: boolean;
}

/** Looks at what an act would do, whenever it has changed. Null: the form has no act yet. */
export function usePreview(act: PreviewableAct | null): Previewed {
  const { api } = useSigned();
  const key = act === null ? '' : JSON.stringify(act);
  const [seen, setSeen] = useState<{ key: string; preview?: Preview; failure?: CallFailed }>({ key: '' });
  useEffect(() => {
    if (key === '') return;
    const controller = new AbortController();
    const look = async () => {
      const { path, ...call } = JSON.parse(key) as PreviewableAct;
      try {
        const options = { ...call, query: { preview: true }, signal: controller.signal };
        const { data: preview } = await api.call<Preview>(path, options);
        if (!controller.signal.aborted) setSeen({ key, preview });
      } catch (error) {
        if (controller.signal.aborted) return;
        if (!(error instanceof CallFailed)) throw error;
        setSeen({ key, failure: error });
      }
    };
    const timer = setTimeout(() => void look(), restMilliseconds);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [api, key]);
  if (key === '') return { preview: undefined, failure: undefined, isOld: false };
  return { preview: seen.preview, failure: seen.key === key ? seen.failure : undefined, isOld: seen.key !== key };
}
