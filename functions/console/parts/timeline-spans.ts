import { dateOf } from '../ui/format.ts';

export interface Span {
  readonly kind: 'queued' | 'ran';
  /** Of the whole bar, from 0 to 1. */
  readonly from: number;
  readonly share: number;
  readonly seconds: number;
  /** It has not ended. */
  readonly isOpen: boolean;
}

interface Times {
  readonly created: string;
  readonly started: string | null;
  readonly ended: string | null;
}

/** A part that exists is seen, however short it was. */
const least = 0.01;

/**
 * How long it waited and how long it ran, until `now` (milliseconds since 1970) where that goes on.
 * What ended before it started has waited only. The clocks of machines may be behind: nothing lasts
 * less than 0 s.
 */
export function spansOf({ created, started, ended }: Times, now: number): readonly Span[] {
  const begin = dateOf(created).getTime();
  const start = started === null ? undefined : Math.max(begin, dateOf(started).getTime());
  const end = ended === null ? now : dateOf(ended).getTime();
  const isOpen = ended === null;
  const waited = Math.max(0, (start ?? end) - begin);
  if (start === undefined) return [{ kind: 'queued', from: 0, share: 1, seconds: waited / 1_000, isOpen }];
  const ran = Math.max(0, end - start);
  const whole = waited + ran;
  const share = whole === 0 ? 0.5 : Math.min(1 - least, Math.max(least, waited / whole));
  return [
    { kind: 'queued', from: 0, share, seconds: waited / 1_000, isOpen: false },
    { kind: 'ran', from: share, share: 1 - share, seconds: ran / 1_000, isOpen },
  ];
}
