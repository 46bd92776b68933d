/**
 * The modes that an operator sets for a device, and what each lets it do: data only, and the only
 * place that lists them. data/queue/device-rules.ts answers for a time, windows included.
 */

/** What a device does under a mode. */
export type ModeRules = {
  /** It accepts new batches of users. */
  readonly accepts: boolean;
  /** Users find it in the list of devices without asking for what is not in service. */
  readonly listed: boolean;
} & (
  | {
      /** Workers get batches. */
      readonly claims: true;
      /** A batch that a worker has goes on with its next job. */
      readonly goesOn: true;
    }
  | { readonly claims: false; readonly goesOn: boolean }
) &
  (
    | { readonly accepts: true; readonly claims: true; readonly says: undefined }
    | {
        /** What users read behind the device's name, before the operator's reason. */
        readonly says: string;
      }
  );

export const deviceModes = {
  OPEN: { accepts: true, claims: true, goesOn: true, listed: true, says: undefined },
  DRAINING: { accepts: true, claims: false, goesOn: true, listed: true, says: 'takes no further batches' },
  PAUSED: { accepts: true, claims: false, goesOn: false, listed: true, says: 'is paused' },
  CLOSED: { accepts: false, claims: false, goesOn: false, listed: true, says: 'is closed' },
  RETIRED: { accepts: false, claims: false, goesOn: false, listed: false, says: 'is retired' },
} as const satisfies Record<string, ModeRules>;

export type DeviceModeName = keyof typeof deviceModes;

export const deviceModeNames = Object.keys(deviceModes) as DeviceModeName[];

/** The rules, in words that lists and tables of modes share. */
export const ruleWords = {
  accepts: 'new batches',
  claims: 'batches for workers',
  goesOn: 'next jobs of held batches',
  listed: 'place in the list',
} satisfies Record<Exclude<keyof ModeRules, 'says'>, string>;

export const ruleNames = Object.keys(ruleWords) as (keyof typeof ruleWords)[];

/** Whether an operator has to say why the device has the mode. */
export function needsReason(mode: DeviceModeName): boolean {
  return deviceModes[mode].says !== undefined;
}
