import { Time } from '../ui/basics.tsx';
import { dateOf, formatClock, formatDayAndClock, formatSeconds } from '../ui/format.ts';
import { kindOf, statusWord } from '../ui/status-looks.ts';
import { texts } from '../ui/texts.ts';
import { useNow } from '../ui/use-now.ts';
import { type Span, spansOf } from './timeline-spans.ts';

const { timeline: words } = texts;

interface Props {
  readonly created: string;
  readonly started: string | null;
  readonly ended: string | null;
  /** How it ended: of a batch or a job. Shown once `ended` is given. */
  readonly status: string;
  /** When it is likely to start, while that is known. */
  readonly likely?: string | undefined;
}

/**
 * How long something waited and ran: one bar in proportion, and its times as a list. Until it has
 * ended, the last part grows with the clock.
 */
export function TimelineBar({ created, started, ended, status, likely }: Props) {
  const now = useNow(ended === null);
  const spans = spansOf({ created, started, ended }, now);
  const queued = spans.find(({ kind }) => kind === 'queued');
  const ran = spans.find(({ kind }) => kind === 'ran');
  return (
    <section class="times" aria-label={words.label}>
      <svg class="span" role="img" aria-label={spans.map(wordsOf).join(', ')}>
        {spans.map(({ kind, from, share, isOpen }) => (
          <rect
            key={kind}
            class={`${kind} ${isOpen ? 'open' : ''}`}
            x={`${from * 100}%`}
            width={`${share * 100}%`}
            height="100%"
          />
        ))}
      </svg>
      <ol class="timeline">
        <li class="first">
          <b>{words.created}</b> <Moment time={created} now={now} />
        </li>
        {queued !== undefined && (
          <li class="queued">
            <b>{wordsOf(queued)}</b>
            {queued.isOpen && likely !== undefined && (
              <span class="took">
                {words.likely} <Moment time={likely} now={now} />
              </span>
            )}
          </li>
        )}
        {ran !== undefined && (
          <li class="ran">
            <b>{wordsOf(ran)}</b>{' '}
            <span class="took">
              {words.from} <Moment time={started!} now={now} />
            </span>
          </li>
        )}
        {ended !== null && (
          <li class={`last ${kindOf(status)}`}>
            <b>{statusWord(status)}</b> <Moment time={ended} now={now} />
          </li>
        )}
      </ol>
    </section>
  );
}

function wordsOf({ kind, isOpen, seconds }: Span): string {
  return `${words[isOpen ? 'open' : 'closed'][kind]} ${formatSeconds(seconds)}`;
}

/** The time of day; with the date where that is not today's. */
function Moment({ time, now }: { readonly time: string; readonly now: number }) {
  const isToday = dateOf(time).toDateString() === new Date(now).toDateString();
  return (
    <span class="took">
      <Time time={time} format={isToday ? formatClock : formatDayAndClock} />
    </span>
  );
}
