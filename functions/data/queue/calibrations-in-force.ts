/**
 * The calibrations of a device that are in force, were a moment ago, or are to come: a short list
 * in the item of the device's rules, which whatever hands out a job reads anyway. All calibrations:
 * data/rows/calibrations.ts.
 */

import * as z from 'zod/mini';
import { LimitExceeded } from '../../errors.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { Count } from '../../schemas/values.ts';

/** Number, `valid_from` in microseconds and `created_at` in milliseconds since 1970. */
const KnownCalibration = z.tuple([Count, Count, Count]);
type KnownCalibration = z.infer<typeof KnownCalibration>;
export type KnownCalibrations = readonly KnownCalibration[];

const OfItem = z.object({ calibrations: z._default(z.array(KnownCalibration), []) });

/** The calibrations that the item of the device's rules holds. */
export function calibrationsOf(item: Readonly<Record<string, unknown>> | undefined): KnownCalibrations {
  return item === undefined ? [] : storedRow(OfItem, item).calibrations;
}

/** For so long the list keeps what was in force before. */
const keptMilliseconds = 60_000;

/** They keep a list below 1 KB. */
const maxToCome = 10;
const maxAMinute = 20;

/**
 * The number of the one in force at this time, in milliseconds since 1970: of those reported and
 * valid by then, the one that is valid from the latest time on; of equal ones the one with the
 * highest number. Undefined if there is none.
 */
export function calibrationInForce(known: KnownCalibrations, time: number): number | undefined {
  const by = known.filter((each) => effectiveFrom(each) <= time);
  return by.toSorted(([a, validA], [b, validB]) => validB - validA || b - a)[0]?.[0];
}

function effectiveFrom([, validFrom, createdAt]: KnownCalibration): number {
  return Math.max(validFrom / 1_000, createdAt);
}

/**
 * Adds a calibration to the list, and drops what was not in force in the last minute and never will
 * be. A calibration comes into force when it becomes effective, or never. Those whose number is not
 * lower are dropped as well: restored tables may have lost them. Throws LimitExceeded where more
 * than 10 are to come, or more than 20 have come within a minute.
 */
export function withCalibration(known: KnownCalibrations, added: KnownCalibration, now: number): KnownCalibrations {
  const all = [...known.filter(([number]) => number < added[0]), added];
  const kept = all.filter(
    (each) => calibrationInForce(all, Math.max(effectiveFrom(each), now - keptMilliseconds)) === each[0],
  );
  const toCome = kept.filter((each) => effectiveFrom(each) > now).length;
  if (toCome > maxToCome) throw new LimitExceeded(`At most ${maxToCome} calibrations of a device may be to come.`);
  if (kept.length - toCome > maxAMinute) {
    throw new LimitExceeded(`At most ${maxAMinute} calibrations of a device come into force within a minute.`);
  }
  return kept;
}
