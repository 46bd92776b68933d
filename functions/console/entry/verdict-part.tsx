import type { ComponentChildren } from 'preact';
import { countedLimits } from '../../limits.ts';
import type { OwnLimits } from '../../schemas/limits.ts';
import { type Fault, faultsElsewhere, type Place } from '../client/fault-places.ts';
import { LimitBars } from '../parts/limit-bars.tsx';
import { Failure, Faults } from '../ui/basics.tsx';
import { formatAgo, formatCount, formatMoment, formatTime } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import type { JobDraft } from './cell-values.ts';
import { withoutJobs } from './draft.ts';
import { groupFaults, jobOf, nameJobs } from './fault-groups.ts';
import type { CellPlace } from './job-table.tsx';
import type { TableColumn } from './pasted-block.ts';
import type { Sending } from './use-sending.ts';

const { newBatch: words } = texts;

/** More groups of faults, or of what is left to the device, are counted. */
const maxGroups = 8;

interface Props {
  readonly sending: Sending;
  readonly columns: readonly TableColumn[];
  /** What other fields show their faults themselves. */
  readonly places: readonly Place[];
  /** Whether there is enough to be checked. */
  readonly isComplete: boolean;
  readonly label: string;
  readonly want: (place: CellPlace) => void;
  readonly jobs: readonly JobDraft[];
  readonly change: (jobs: readonly JobDraft[]) => void;
}

/** What the check says of the form, and the buttons that check and send it. */
export function VerdictPart(props: Props) {
  const { sending, places, isComplete, label } = props;
  const { act, faults, verdict, isOld } = sending;
  const elsewhere = faultsElsewhere(faults, places).filter((fault) => jobOf(fault) === undefined);
  return (
    <section class="card verdict" aria-label={words.verdict}>
      <div role="status">
        {faults.length > 0 ? (
          <div class="notice failed">
            <FaultList {...props} faults={faults} elsewhere={elsewhere} />
          </div>
        ) : verdict === undefined || isOld ? (
          <p class="aside">{stateOf(sending, isComplete)}</p>
        ) : (
          <Faultless left={verdict.left_to_device} />
        )}
        {verdict !== undefined && verdict.faults.length === 0 && <Start verdict={verdict} />}
      </div>
      {verdict?.limits?.left !== undefined && <LimitBars limits={onlyHeld(verdict.limits)} />}
      <Failure failure={act.failure} faults={[]} />
      <div class="actions">
        <button type="submit" class="main send" disabled={act.isRunning}>
          {label}
        </button>
        <button type="button" disabled={act.isRunning} onClick={() => act.run('check')}>
          {words.check}
        </button>
        <span role="status">{act.isRunning && words.checking}</span>
      </div>
    </section>
  );
}

/** What is used without a limit says nothing of whether this can be sent. */
function onlyHeld(own: OwnLimits): OwnLimits {
  const used = Object.fromEntries(
    countedLimits.map((name) => [name, own.limits[name] === null ? null : own.used[name]]),
  ) as OwnLimits['used'];
  return { ...own, used };
}

/** Why there is no verdict. */
function stateOf({ isUnread, isAutomatic, checking }: Sending, isComplete: boolean): string {
  if (!isComplete || isUnread) return words.notChecked;
  if (checking !== undefined) return checking === 'begun' ? words.checking : words.checkFailed;
  return isAutomatic ? words.checks : words.tooLong;
}

function FaultList({
  faults,
  elsewhere,
  columns,
  want,
  jobs: all,
  change,
}: Props & { readonly faults: readonly Fault[]; readonly elsewhere: readonly Fault[] }) {
  const groups = groupFaults(faults);
  const others = faults.filter((fault) => jobOf(fault) === undefined);
  return (
    <>
      <p>
        <strong>{words.faulty(groups.length + others.length)}</strong>
      </p>
      <ul class="plain">
        {groups.slice(0, maxGroups).map(({ column, jobs, msg }, at) => {
          const place = columns.findIndex(({ name }) => name === column);
          const label = columns[place]?.label ?? column;
          return (
            <li key={at}>
              <button type="button" class="link" onClick={() => want({ row: jobs[0]!, column: Math.max(0, place) })}>
                {/* Some messages name the column themselves. */}
                {words.columnOf(msg.startsWith(label) ? '' : label, nameJobs(jobs))}
              </button>
              : <bdi>{msg}</bdi>{' '}
              {jobs.length > 1 && jobs.length < all.length && (
                <button type="button" class="link" onClick={() => change(withoutJobs(all, jobs))}>
                  {words.removeThem(formatCount(jobs.length))}
                </button>
              )}
            </li>
          );
        })}
        {groups.length > maxGroups && <li>{words.more(formatCount(groups.length - maxGroups))}</li>}
      </ul>
      <FieldFaults faults={others.filter((fault) => !elsewhere.includes(fault))} />
      <Faults faults={elsewhere} />
    </>
  );
}

/** Faults of the other fields, by the names that people read there. */
function FieldFaults({ faults }: { readonly faults: readonly Fault[] }) {
  const labels: Readonly<Record<string, string>> = { ...words.fields, sequence_builder: words.program };
  return (
    <ul class="plain">
      {faults.map(({ loc, msg }, at) => (
        <li key={at}>
          {[labels[String(loc[1])], ...loc.slice(2)].join(' › ')}: <bdi>{msg}</bdi>
        </li>
      ))}
    </ul>
  );
}

function Faultless({ left }: { readonly left: readonly Pick<Fault, 'loc' | 'msg'>[] | undefined }) {
  const isNothingLeft = left !== undefined && left.length === 0;
  const groups = groupFaults(left ?? []);
  const others = (left ?? []).filter((each) => jobOf(each) === undefined);
  const parts: ComponentChildren[] = [
    ...groups.map(({ column, jobs, msg }) => `${words.columnOf(column, nameJobs(jobs))}: ${msg}`),
    ...new Set(others.map(({ msg }) => msg)),
  ];
  return (
    <div class={isNothingLeft ? 'notice good' : 'notice unsure'}>
      <p>
        <strong>{words.faultless}</strong> {parts.length > 0 ? words.leftTo : words.left}
      </p>
      {parts.length > 0 && (
        <ul class="plain">
          {parts.slice(0, maxGroups).map((part, at) => (
            <li key={at}>
              <bdi>{part}</bdi>
            </li>
          ))}
          {parts.length > maxGroups && <li>{words.more(formatCount(parts.length - maxGroups))}</li>}
        </ul>
      )}
    </div>
  );
}

function Start({ verdict }: { readonly verdict: NonNullable<Sending['verdict']> }) {
  const { estimated_start: start, estimated_start_reason: reason } = verdict;
  if (start === null || start === undefined) {
    return <p class="aside">{words.noStart[reason as keyof typeof words.noStart]}</p>;
  }
  return (
    <dl class="pairs">
      <div>
        <dt>{words.starts}</dt>
        <dd title={`${formatTime(start.earliest)} – ${formatTime(start.latest)}`}>
          <strong>{formatAgo(start.likely)}</strong>{' '}
          <span class="aside">{words.atTheLatest(formatMoment(start.latest))}</span>
        </dd>
      </div>
    </dl>
  );
}
