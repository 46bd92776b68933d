/** What acts on a device or a batch would change in the queue. Nothing is written. */

import { deviceModes } from '../../device-modes.ts';
import type { DeviceSettingsRequest } from '../../schemas/device.ts';
import type { MovedBatch, Preview } from '../../schemas/preview.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet } from '../dynamodb/reads.ts';
import { commitTask } from '../lifecycle/commit-tasks.ts';
import type { Draft } from '../lifecycle/draft.ts';
import { plannedPlace } from '../lifecycle/planned-place.ts';
import { namesOf } from '../projects/names.ts';
import { compareEnds, type QueueAct } from '../queue/compare-ends.ts';
import { placeOfKey } from '../queue/fair-order.ts';
import { maxCountedBatches, type QueueFront, readFront } from '../queue/queue.ts';
import { changedRules } from './device-settings.ts';
import { type ActDb, type NewPriority, priorityTask } from './operator-acts.ts';

/** For the batches of a queue, with their projects and what their owners are called. */
type PreviewDb = Db<'Batches' | 'DeviceQueue' | 'Columns' | 'Contributors'>;

/**
 * What setDevice would do. `idle_seconds` and `max_batch_seconds` move no end: an open batch may
 * get further jobs, or not.
 *
 * Half a read unit for about 16 batches of the queue, 31 at most; half a unit for each 4 KB of the
 * row of a batch that moves, and what namesOf takes for their owners. CPU: see compareEnds.
 */
export async function previewSetting(
  db: PreviewDb,
  deviceType: string,
  settings: DeviceSettingsRequest,
): Promise<Preview> {
  const front = await readFront(db, deviceType);
  const rules = changedRules(front.rules, settings, db.clock.now());
  return {
    ...(await showMoved(db, deviceType, { front, act: { rules } })),
    refuses_new: !deviceModes[rules.mode].accepts,
  };
}

/**
 * What setBatchPriority would do, with its errors and at the place that it would give. Costs its
 * reads, 2 read units more for that place, and what previewSetting takes.
 */
export async function previewPriority(db: ActDb, request: NewPriority): Promise<Preview> {
  const { userId, batchId } = request;
  const { last } = await commitTask(db, { userId, dryRun: true }, priorityTask(db, request));
  const { stored } = last as Draft;
  const { device_type } = stored.batches.get(batchId)!;
  const [front, key] = await Promise.all([
    readFront(db, device_type),
    plannedPlace(db, userId, { draft: last as Draft, batchId }),
  ]);
  const act = stored.leased === undefined || key === null ? {} : { moved: { item: stored.leased, key } };
  return { ...(await showMoved(db, device_type, { front, act })), refuses_new: null };
}

/** The preview of an act on a queue. */
async function showMoved(
  db: PreviewDb,
  device_type: string,
  { front, act }: { readonly front: QueueFront; readonly act: QueueAct },
): Promise<Omit<Preview, 'refuses_new'>> {
  const { moved, played } = compareEnds(front, act, db.clock.now());
  const places = moved.map(({ item }) => placeOfKey(item.key));
  const keys = moved.map(({ item }, at) => ({ user_id: item.user_id, id: places[at]!.batchId }));
  const attributes = ['id', 'project_id'];
  const [rows, names] = await Promise.all([
    batchGet(db, { table: 'Batches', keys, attributes, consistent: false }),
    namesOf(
      db,
      moved.map(({ item }) => item.user_id),
    ),
  ]);
  const projects = new Map(rows.map(({ id, project_id }) => [id, String(project_id)]));
  const batches = moved.map(({ item, ...ends }, at): MovedBatch => {
    const { batchId: batch_id, priority: queue_priority } = places[at]!;
    const { user_id, jobs_left } = item;
    const owner = { user_id, user_name: names.get(user_id) ?? null };
    const project_id = projects.get(batch_id) ?? null;
    return { ...owner, batch_id, project_id, device_type, queue_priority, jobs_left, ...ends };
  });
  return { batches, looked_at: played, is_complete: front.batches.length <= maxCountedBatches, limits: null };
}
