import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useKeys } from './keys.ts';

/**
 * What opens over the view by a button or a key, and closes with Escape, by a click elsewhere, or
 * with another address.
 */
export function Popover({
  label,
  button,
  menu = false,
  openedBy,
  children,
}: {
  /** Its name where the button shows more than that. */
  readonly label?: string;
  readonly button: ComponentChildren;
  /** As wide as its content. */
  readonly menu?: boolean;
  readonly openedBy?: string;
  readonly children: ComponentChildren;
}) {
  const element = useRef<HTMLDetailsElement>(null);
  const open = () => {
    element.current!.open = true;
    element.current!.querySelector<HTMLElement>('input, select, a')?.focus();
  };
  useKeys(openedBy === undefined ? {} : { [openedBy]: open });
  useEffect(() => {
    const shown = element.current!;
    const close = () => {
      shown.open = false;
    };
    const closeOutside = ({ target }: Event) => {
      if (shown.open && !shown.contains(target as Node)) close();
    };
    const closeByKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape' || !shown.open) return;
      close();
      shown.querySelector('summary')?.focus();
    };
    addEventListener('hashchange', close);
    addEventListener('click', closeOutside);
    shown.addEventListener('keydown', closeByKey);
    return () => {
      removeEventListener('hashchange', close);
      removeEventListener('click', closeOutside);
    };
  }, []);
  return (
    <details class="popover" ref={element}>
      <summary class="button quiet" aria-label={label}>
        {button}
      </summary>
      <div class={menu ? 'menu' : undefined}>{children}</div>
    </details>
  );
}
