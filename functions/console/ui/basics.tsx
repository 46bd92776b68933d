/** The small parts that all views are made of. */

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Fault } from '../client/fault-places.ts';
import type { CallFailed } from '../client/public-api.ts';
import type { Loaded } from '../client/use-call.ts';
import { formatMoment, formatTime } from './format.ts';
import { Icon } from './icon.tsx';
import { Mark } from './mark.tsx';
import { texts } from './texts.ts';
import { useCopy } from './use-copy.ts';

/** A time as `format` has it, by default as short as it is clear, and the exact one on demand. */
export function Time({
  time,
  format = formatMoment,
}: {
  readonly time: string | null | undefined;
  readonly format?: (time: string) => string;
}) {
  if (time === null || time === undefined) return <>{texts.common.none}</>;
  return (
    <time dateTime={time} title={`${formatTime(time)} (${time})`}>
      {format(time)}
    </time>
  );
}

/** An id, shortened; a click copies it. */
export function Id({ id, link }: { readonly id: string; readonly link?: string }) {
  const short = id.length > 13 ? `${id.slice(0, 8)}…` : id;
  return (
    <span class="id">
      {link === undefined ? (
        <code title={id}>{short}</code>
      ) : (
        <a href={link} title={id}>
          <code>{short}</code>
        </a>
      )}
      <Copy text={id} />
    </span>
  );
}

/** What operators and fellows are shown of someone's: it has their name where that is known. */
export type Named<Row> = Row & { readonly user_name?: string | null };

/** Someone: by name, and by id where no name is known. The id can be copied. */
export function Person({
  id,
  name,
  link,
}: {
  readonly id: string;
  readonly name: string | null | undefined;
  readonly link?: string;
}) {
  if (name === null || name === undefined) return <Id id={id} {...(link !== undefined && { link })} />;
  const shown = <bdi>{name}</bdi>;
  return (
    <span class="person" title={id}>
      <Avatar name={name} />
      {link === undefined ? shown : <a href={link}>{shown}</a>}
      <Copy text={id} />
    </span>
  );
}

/** The initials of a name. */
export function Avatar({ name }: { readonly name: string }) {
  const [first = '', ...others] = name.trim().split(/\s+/);
  return (
    <span class="avatar" aria-hidden="true">
      {[first, others.at(-1) ?? ''].map((word) => [...word].at(0)?.toUpperCase()).join('')}
    </span>
  );
}

function Copy({ text }: { readonly text: string }) {
  const { isCopied, copy } = useCopy(text);
  return (
    <button type="button" class="copy" aria-label={`${texts.common.copy} ${text}`} onClick={copy}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span aria-live="polite" class="unseen">
        {isCopied ? texts.common.copied : ''}
      </span>
    </button>
  );
}

/** Faults of what was sent, with their places. */
export function Faults({ faults }: { readonly faults: readonly Fault[] }) {
  if (faults.length === 0) return null;
  return (
    <ul>
      {faults.map(({ loc, msg }, at) => (
        <li key={at}>
          <code>{loc.join(' › ')}</code> <bdi>{msg}</bdi>
        </li>
      ))}
    </ul>
  );
}

/**
 * Why a call failed, in the service's words, with the request's id and every fault. A form that
 * shows some of them beside its fields gives the others as `faults`.
 */
export function Failure({
  failure,
  faults = failure?.faults ?? [],
  retry,
}: {
  readonly failure: CallFailed | undefined;
  readonly faults?: readonly Fault[];
  readonly retry?: () => void;
}) {
  if (failure === undefined) return null;
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{failure.message}</strong>
      </p>
      <Faults faults={faults} />
      <p class="aside">
        {failure.code}
        {failure.requestId !== undefined && (
          <>
            {' · '}
            {texts.common.requestId} <code>{failure.requestId}</code>
          </>
        )}
      </p>
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          {texts.common.retry}
        </button>
      )}
    </div>
  );
}

/** What a view shows of a call: its failure, that it is under way, or its answer. */
export function Shown<Data>({
  loaded,
  children,
}: {
  readonly loaded: Loaded<Data>;
  readonly children: (data: Data) => ComponentChildren;
}) {
  const { answer, failure, isLoading, reload } = loaded;
  return (
    <>
      <Failure failure={failure} retry={reload} />
      {answer === undefined ? isLoading && <Skeleton /> : children(answer.data)}
    </>
  );
}

/** The shape of what is under way. */
function Skeleton() {
  const rows = [0, 1, 2, 3, 4, 5];
  return (
    <div class="loading" role="status">
      <span class="unseen">{texts.common.loading}</span>
      <svg class="skeleton" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
        {rows.map((row) => (
          <rect key={row} x="0" y={row * 4} width={100 - ((row * 37) % 60)} height="1.6" rx="0.4" />
        ))}
      </svg>
    </div>
  );
}

/** A view without anything in it says what to do next. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="empty">
      <Mark isEmpty />
      {children}
    </div>
  );
}

/** Names and values of one thing. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="pairs">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What may be wider than the screen, such as a table: it scrolls by itself, also by keyboard. */
export function Wide({
  label,
  kind = '',
  isOld = false,
  children,
}: {
  readonly label: string;
  readonly kind?: string | undefined;
  readonly isOld?: boolean | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class={`wide ${kind}`} aria-label={label} aria-busy={isOld ? 'true' : undefined} tabIndex={0}>
      {children}
    </section>
  );
}

/** A question before something that cannot be undone, or the form that it needs. */
export function Dialog({
  title,
  close,
  children,
}: {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // While it is still there: the focus goes back to what opened it.
    return () => shown?.close();
  }, []);
  return (
    // The event comes later: by then another dialog may be open, which is not to be closed.
    <dialog ref={dialog} aria-label={title} onClose={() => dialog.current !== null && close()}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** Text as it is. It scrolls by itself, with the keyboard too. */
export function Pre({ text }: { readonly text: string }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
  return <pre tabIndex={0}>{text}</pre>;
}

/** Text that is long: its beginning, and all of it on demand. */
export function Long({ text, max = 300 }: { readonly text: string; readonly max?: number }) {
  if (text.length <= max) return <>{text}</>;
  return (
    <details>
      <summary>{text.slice(0, max)}…</summary>
      <Pre text={text} />
    </details>
  );
}

/** Offers a text, or what is a file already, as a file. */
export function download(name: string, type: string, content: string | Blob): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** The buttons of a dialog. */
export function Answers({
  label,
  isDanger = false,
  isRunning,
  run,
  close,
}: {
  readonly label: string;
  readonly isDanger?: boolean;
  readonly isRunning: boolean;
  readonly run: () => void;
  readonly close: () => void;
}) {
  return (
    <div class="actions">
      <button type="button" onClick={close}>
        {texts.common.cancel}
      </button>
      <button type="button" class={isDanger ? 'danger' : 'main'} disabled={isRunning} onClick={() => run()}>
        {label}
      </button>
    </div>
  );
}
