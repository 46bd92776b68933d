import { cloneElement, type VNode } from 'preact';
import { useId } from 'preact/hooks';
import { type Fault, faultsAt, type Place } from '../client/fault-places.ts';

/** A labeled input, with what was wrong with its value. */
export function Field({
  label,
  hint,
  place = [],
  faults = [],
  wide = false,
  children,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Where its value is in what is sent. */
  readonly place?: Place;
  readonly faults?: readonly Fault[];
  readonly wide?: boolean;
  readonly children: VNode;
}) {
  const id = useId();
  const own = place.length === 0 ? [] : faultsAt(faults, place);
  const described = {
    id,
    ...((own.length > 0 || hint !== undefined) && { 'aria-describedby': `${id}-more` }),
    ...(own.length > 0 && { 'aria-invalid': 'true' }),
  };
  return (
    <div class={wide ? 'field full' : 'field'}>
      <label htmlFor={id}>
        <bdi>{label}</bdi>
      </label>
      {cloneElement(children, described)}
      <div id={`${id}-more`} class="aside">
        {own.every(({ msg }) => msg !== hint) && hint}
        {own.map(({ loc, msg }, at) => (
          <p key={at} class="fault">
            {loc.length > place.length && <code>{loc.slice(place.length).join(' › ')}</code>} <bdi>{msg}</bdi>
          </p>
        ))}
      </div>
    </div>
  );
}
