/** Which of a call's faults belong to which field of a form. */

/** In what was sent. */
export type Place = readonly (string | number)[];

/** A fault of what was sent, and its place. */
export interface Fault {
  readonly loc: Place;
  readonly msg: string;
  readonly type: string;
}

/** The faults of the value at a place, and of what is in it. */
export function faultsAt(faults: readonly Fault[], place: Place): readonly Fault[] {
  return faults.filter(({ loc }) => place.every((part, at) => String(loc[at]) === String(part)));
}

/** The faults that no field shows. */
export function faultsElsewhere(faults: readonly Fault[], places: readonly Place[]): readonly Fault[] {
  const shown = new Set(places.flatMap((place) => faultsAt(faults, place)));
  return faults.filter((fault) => !shown.has(fault));
}
