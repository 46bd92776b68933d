import { useEffect, useRef, useState } from 'preact/hooks';
import { useSigned } from '../client/use-call.ts';
import { type Draft, emptyDraft } from './draft.ts';

interface DraftState {
  readonly draft: Draft;
  /** Changes some members, and the key with them. */
  readonly change: (part: Partial<Draft>) => void;
  /** Forgets all of it, once it is sent. */
  readonly clear: () => void;
}

/**
 * A draft that stays in the tab until it is sent, also when the session ends meanwhile. `of` is
 * what it belongs to: a person can have one draft for each.
 */
export function useDraft(of: string): DraftState {
  const { session } = useSigned();
  const name = `draft:${session.userId}${of}`;
  const [draft, setDraft] = useState<Draft>(() => ({
    ...emptyDraft,
    key: crypto.randomUUID(),
    ...JSON.parse(sessionStorage.getItem(name) ?? '{}'),
  }));
  const current = useRef(draft);
  current.current = draft;
  useEffect(() => {
    const keep = () => {
      try {
        if (current.current === emptyDraft) sessionStorage.removeItem(name);
        else sessionStorage.setItem(name, JSON.stringify(current.current));
      } catch {
        // The tab keeps some megabytes: without the program, the rest still fits.
        sessionStorage.setItem(name, JSON.stringify({ ...current.current, text: '' }));
      }
    };
    addEventListener('pagehide', keep);
    return () => {
      removeEventListener('pagehide', keep);
      keep();
    };
  }, [name]);
  return {
    draft,
    change: (part) => setDraft((before) => ({ ...before, ...part, key: crypto.randomUUID() })),
    clear: () => {
      // The view may be left before it is drawn again.
      current.current = emptyDraft;
      setDraft(emptyDraft);
    },
  };
}
