import { useEffect, useId, useRef } from 'preact/hooks';

interface Item {
  readonly text: string;
  /** Its name where the text alone does not say of what. */
  readonly label?: string;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  readonly run: () => void;
}

/**
 * What can be done with a row, behind three dots. It lies above the table, which may scroll; the
 * browser closes it with Escape or by a click elsewhere, and gives the focus back.
 */
export function RowMenu({ label, items }: { readonly label: string; readonly items: readonly Item[] }) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const shown = menu.current!;
    const place = ({ newState }: Event & { newState?: string }) => {
      if (newState !== 'open') return;
      const { right, bottom } = button.current!.getBoundingClientRect();
      shown.style.left = `${Math.max(8, right - shown.offsetWidth) + scrollX}px`;
      shown.style.top = `${bottom + 4 + scrollY}px`;
      shown.querySelector<HTMLElement>('button:enabled')?.focus();
    };
    shown.addEventListener('toggle', place);
    return () => shown.removeEventListener('toggle', place);
  }, []);
  return (
    <>
      <button ref={button} type="button" class="quiet tiny" aria-label={label} popovertarget={id}>
        ⋯
      </button>
      <div id={id} ref={menu} class="row-menu" popover="auto">
        {items.map(({ text, label, isDanger, isDisabled, run }) => (
          <button
            key={text}
            type="button"
            class={isDanger === true ? 'quiet danger' : 'quiet'}
            aria-label={label}
            disabled={isDisabled}
            // It closes before anything else opens: the focus comes back to the dots.
            popovertarget={id}
            popovertargetaction="hide"
            onClick={run}
          >
            {text}
          </button>
        ))}
      </div>
    </>
  );
}
