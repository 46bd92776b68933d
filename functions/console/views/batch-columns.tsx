import type { ComponentChildren } from 'preact';
import type { Batch } from '../../schemas/batch.ts';
import { isFinalBatchStatus } from '../../statuses.ts';
import { nameOf, otherTags } from '../parts/batch-name.ts';
import { linkTo } from '../ui/address.ts';
import { Id, type Named, Person, Time } from '../ui/basics.tsx';
import { dateOf, formatCount, formatSeconds } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { JobsCell } from '../ui/jobs-cell.tsx';
import { Status } from '../ui/status.tsx';
import type { Column } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { visible } from '../ui/visible-text.ts';

const { batches: words } = texts;

interface Links {
  readonly toTag: (tag: string) => string;
  /** Where the list has rows of others. */
  readonly toOwner: ((id: string) => string) | undefined;
  readonly isAnnounced: (deviceType: string) => boolean;
}

/** The columns of a list of batches; one that is empty in all rows is left out. */
export function batchColumns(
  rows: readonly Named<Batch>[],
  { toTag, toOwner, isAnnounced }: Links,
): readonly Column<Named<Batch>>[] {
  const { columns } = words;
  const owner: Column<Named<Batch>> = [
    columns.user_name,
    ({ user_id, user_name }) => <Person id={user_id} name={user_name} link={toOwner?.(user_id) ?? ''} />,
  ];
  const hasEnded = rows.some(({ end_datetime }) => end_datetime !== null);
  return [
    [columns.name, (batch) => <Name batch={batch} toTag={toTag} />, 'fill at-name'],
    [columns.status, ({ status }) => <Status status={status} />, 'at-status', 'status'],
    [columns.jobs_count, (each) => <JobsCell counts={each.jobs_count_per_status} />, 'at-jobs', 'jobs_count'],
    [columns.device_type, (batch) => <Device batch={batch} isAnnounced={isAnnounced} />, undefined, 'device_type'],
    ...(toOwner === undefined ? [] : [owner]),
    [columns.created_at, ({ created_at }) => <Time time={created_at} />, 'at-when', 'created_at'],
    ...(hasEnded
      ? ([
          [
            columns.end_datetime,
            ({ end_datetime: end }: Batch) => end && <Time time={end} />,
            'roomy-only',
            'end_datetime',
          ],
          [columns.took, tookOf, 'number'],
        ] as const)
      : []),
    [columns.id, ({ id }) => <Id id={id} />, 'roomy-only'],
  ];
}

function tookOf({ start_datetime: start, end_datetime: end }: Batch): string {
  if (start === null || end === null) return '';
  return formatSeconds(Math.max(0, dateOf(end).getTime() - dateOf(start).getTime()) / 1_000);
}

/** The priority that needs no mention. */
const usualPriority = 'MEDIUM';

function Name({ batch, toTag }: { readonly batch: Batch; readonly toTag: (tag: string) => string }) {
  const { id, queue_priority, open, status } = batch;
  return (
    <span class="name">
      <a href={linkTo(['batch', id])} title={id}>
        <bdi>{nameOf(batch)}</bdi>
      </a>
      <Tags tags={otherTags(batch)} link={toTag}>
        {queue_priority !== usualPriority && <span>{texts.priorityWords[queue_priority]}</span>}
        {open && !isFinalBatchStatus(status) && <span>{words.open}</span>}
      </Tags>
    </span>
  );
}

function Device({
  batch: { device_type, status },
  isAnnounced,
}: {
  readonly batch: Batch;
  readonly isAnnounced: (deviceType: string) => boolean;
}) {
  if (isFinalBatchStatus(status) || isAnnounced(device_type)) return <bdi>{device_type}</bdi>;
  return (
    <span class="warn" title={words.unknownDevice}>
      <Icon name="warning" />
      <bdi>{device_type}</bdi>
      <span class="unseen">{words.unknownDevice}</span>
    </span>
  );
}

/** Of many tags the first, and how many more there are; before them what is shown alike. */
export function Tags({
  tags,
  link,
  max = 3,
  children,
}: {
  readonly tags: readonly string[];
  readonly link: (tag: string) => string;
  readonly max?: number;
  readonly children?: ComponentChildren;
}) {
  return (
    <span class="tags">
      {children}
      {tags.slice(0, max).map((tag) => (
        <a key={tag} href={link(tag)} title={tag}>
          <bdi>{visible(tag)}</bdi>
        </a>
      ))}
      {tags.length > max && <span title={tags.slice(max).join(', ')}>+{formatCount(tags.length - max)}</span>}
    </span>
  );
}
