import type { ComponentChild } from 'preact';
import { kindOf, signOf, statusWord } from './status-looks.ts';

const signs = {
  check: (
    <>
      <circle class="full" cx="6" cy="6" r="5.5" />
      <path class="cut" d="M3.6 6.2l1.7 1.7 3.2-3.6" />
    </>
  ),
  turning: (
    <>
      <circle class="rest" cx="6" cy="6" r="4.6" />
      <path class="turn" d="M6 1.4a4.6 4.6 0 0 1 4.6 4.6" />
    </>
  ),
  ring: <circle cx="6" cy="6" r="4.6" />,
  pause: <path d="M4 2.5v7M8 2.5v7" />,
  cross: (
    <>
      <rect class="full" x="0.5" y="0.5" width="11" height="11" rx="2.5" />
      <path class="cut" d="M4 4l4 4M8 4l-4 4" />
    </>
  ),
  clock: <path d="M6 3.4V6l1.8 1.2M10.6 6a4.6 4.6 0 1 1-9.2 0a4.6 4.6 0 0 1 9.2 0z" />,
  struck: <path d="M2.8 9.2l6.4-6.4M10.6 6a4.6 4.6 0 1 1-9.2 0a4.6 4.6 0 0 1 9.2 0z" />,
} satisfies Record<ReturnType<typeof signOf>, ComponentChild>;

/** The shape of a status: readers need not see its color. */
export function StatusSign({ status }: { readonly status: string }) {
  return (
    <svg class={`sign ${kindOf(status)}`} viewBox="0 0 12 12" aria-hidden="true">
      {signs[signOf(status)]}
    </svg>
  );
}

/** A status: a shape, a color and a word; `pill` on a ground of its own. */
export function Status({ status, pill = false }: { readonly status: string; readonly pill?: boolean }) {
  return (
    <span class={`status ${kindOf(status)}${pill ? ' pill' : ''}`}>
      <StatusSign status={status} />
      {statusWord(status)}
    </span>
  );
}
