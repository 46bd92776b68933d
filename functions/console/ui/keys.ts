import { useEffect, useRef } from 'preact/hooks';

/** Whether what is pressed belongs to a field, a dialog or the browser. */
function isTaken({ target, ctrlKey, metaKey, altKey, defaultPrevented }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || defaultPrevented || document.querySelector('dialog[open]') !== null) return true;
  return target instanceof Element && target.closest(fields) !== null;
}

/** Where letters are typed, or choose an option. */
const fields = 'input:not([type="checkbox"], [type="radio"]), select, textarea, [contenteditable]';

/**
 * While the component is drawn, a press of a key does this: by the name that the browser gives the
 * key, `j`, `/`, `?`. Not in fields and dialogs.
 */
export function useKeys(acts: Readonly<Record<string, (() => void) | undefined>>): void {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined;
      if (act === undefined || isTaken(event)) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

/** `j` and `k` move the focus from row to row of the view's list: Enter then opens the row. */
export function useRowKeys(): void {
  const move = (step: number) => {
    const links = [...document.querySelectorAll<HTMLElement>('.rows .name > a')];
    const at = links.indexOf(document.activeElement as HTMLElement);
    links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
}
