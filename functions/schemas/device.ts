import * as z from 'zod/mini';
import { deviceModeNames, deviceModes, type ModeRules, needsReason, ruleNames, ruleWords } from '../device-modes.ts';
import { escapedBytes, isObject, parseJson } from '../values/json-text.ts';
import { DeviceMode, DeviceRules, MaintenanceWindow, windowFields } from './device-rules.ts';
import { type Fault, reportFault, whole } from './faults.ts';
import { onDemand } from './on-demand.ts';
import { many, TextsFilter } from './query-parameters.ts';
import { boundedText, deviceName, Time } from './sent-values.ts';
import { Count, JsonObject, NullableText, NullableTimestamp, Timestamp } from './values.ts';

/** Whether a device takes work. */
export const Availability = z
  .enum(['ACTIVE', 'INACTIVE', 'RETIRED'])
  .register(z.globalRegistry, { id: 'Availability' });

/** A device as its table holds it: what it last announced, and what an operator has set. */
export const DeviceRow = z.object({
  device_type: z.string(),
  /** The name that its specification gives it; absent without one. */
  name: z.exactOptional(z.string()),
  status: z.string(),
  /**
   * Pulser's abstract representation of the device: a JSON text, handed out as it was announced.
   * Absent until one is announced.
   */
  specs: z.exactOptional(z.string()),
  /** Whether anyone may read the specification. */
  public: z.boolean(),
  announced_at: Timestamp,
  rules: z.exactOptional(DeviceRules),
});
export type DeviceRow = z.infer<typeof DeviceRow>;

const DeviceType = z.string().register(z.globalRegistry, { examples: ['FRESNEL', 'EMU_MPS'] });

const modesThat = (does: (rules: ModeRules) => boolean) =>
  deviceModeNames
    .filter((mode) => does(deviceModes[mode]))
    .map((mode) => `\`${mode}\``)
    .join(' or ');

const modeMeanings = deviceModeNames.map((mode) => {
  const barred = ruleNames.filter((rule) => !deviceModes[mode][rule]).map((rule) => `no ${ruleWords[rule]}`);
  return `\`${mode}\`: ${barred.join(', ') || 'all'}.`;
});

const fields = {
  device_type: 'Name by which batches ask for the device.',
  status: 'The status that the device reported last.',
  availability: `\`ACTIVE\`: its status is \`UP\`, its mode ${modesThat(({ accepts, claims }) => accepts && claims)}, and it is in no window. \`RETIRED\`: its mode is ${modesThat(({ listed }) => !listed)}. Otherwise \`INACTIVE\`.`,
  queue_length: 'Number of batches that wait for the device or are at it; null beyond 1,000.',
  mode: `What an operator lets it do. ${modeMeanings.join(' ')} A device without a place in the list is shown only to callers who ask for it with \`availability=RETIRED\`.`,
  status_message:
    'Why it takes no work now, in an operator’s words; null while it takes work. Anyone can read it, without a token.',
  available_at: 'The end of the present window; null outside windows.',
  windows:
    'The present and future windows in which it starts nothing. If one answer cannot hold the windows of all devices, only the first of each.',
  average_queue_time:
    'Mean seconds that batches waited for their first worker, over the batches claimed within the last hour; null if there are none.',
  idle_seconds: 'How long an open batch may keep the device waiting for jobs; then it becomes `TIMED_OUT`.',
  max_atom_num: 'Number of atoms that its specification allows; null if it gives none.',
  is_emulator: 'Whether it emulates a device; null without a specification.',
  channels:
    'The channels of its specification; null if it has none, or if one answer cannot hold the channels of all devices.',
  calibration:
    'Number of the calibration in force now, which the jobs carry that start now; null if there is none. It may be 10 s old.',
  specs: 'Pulser’s abstract representation of the device: a JSON text.',
};

/** A device as users see it. */
export const Device = onDemand(() =>
  z
    .strictObject({
      device_type: DeviceType,
      status: z.string().register(z.globalRegistry, { examples: ['UP'] }),
      availability: Availability,
      queue_length: z.nullable(Count),
      mode: DeviceMode,
      status_message: NullableText,
      available_at: NullableTimestamp,
      windows: z.array(MaintenanceWindow),
      average_queue_time: z.nullable(Count),
      idle_seconds: Count,
      max_atom_num: z.nullable(Count),
      is_emulator: z.nullable(z.boolean()),
      channels: z.nullable(z.array(JsonObject())),
      calibration: z.nullable(Count),
    })
    .register(z.globalRegistry, { id: 'ProducedDeviceResponse', fields }),
);
export type Device = z.infer<ReturnType<typeof Device>>;

const settingFields = {
  max_job_seconds:
    'How long a job may run. Then its worker is asked to stop it, and the job becomes `ERROR`. Null: no limit.',
  idle_seconds:
    'How long an open batch may keep the device waiting for jobs. Null: as the device announces, otherwise 120.',
  max_batch_seconds:
    'How long an open batch may have the device before other batches go first. Null: as the device announces, otherwise 3,600.',
};

export const operatedFields = { ...fields, ...settingFields };

/** A device as operators see it. */
export const OperatedDevice = onDemand(() =>
  z
    .strictObject({
      ...Device().shape,
      max_job_seconds: z.nullable(Count),
      idle_seconds: z.nullable(Count),
      max_batch_seconds: z.nullable(Count),
    })
    .register(z.globalRegistry, { id: 'OperatedDevice', fields: operatedFields }),
);
export type OperatedDevice = z.infer<ReturnType<typeof OperatedDevice>>;

export const DeviceSpecification = onDemand(() =>
  z
    .strictObject({
      device_type: DeviceType,
      specs: z.string().register(z.globalRegistry, { examples: ['{"name": "FRESNEL", "dimensions": 2}'] }),
    })
    .register(z.globalRegistry, { id: 'ProducedDeviceSpecificationResponse', fields }),
);

/** Specifications by device type. */
export const DeviceSpecifications = onDemand(() =>
  z
    .record(z.string(), z.string())
    .register(z.globalRegistry, { examples: [{ FRESNEL: '{"name": "FRESNEL", "dimensions": 2}' }] }),
);

export const DevicePath = z
  .object({ device_type: deviceName })
  .register(z.globalRegistry, { fields, example: { device_type: 'FRESNEL' } });

/** The device that a call is for. */
export const deviceOfPath = ({ path }: { readonly path: z.output<typeof DevicePath> }) => path.device_type;

export const DeviceListQuery = z
  .object({ device_type: TextsFilter, availability: many(Availability) })
  .register(z.globalRegistry, { fields: { ...fields, availability: 'By default all but `RETIRED`.' } });
export type DeviceListQuery = z.output<typeof DeviceListQuery>;

/** One answer holds the specifications of 30 devices of this size (data/rows/devices.ts). */
const maxSpecsBytes = 200_000;

const IdleSeconds = z.int().check(z.gte(10), z.lte(86_400));
const BatchSeconds = z.int().check(z.gte(60), z.lte(604_800));
const JobSeconds = z.int().check(z.gte(1), z.lte(604_800));
const Reason = boundedText(512);
const maxWindows = 50;

/** What an operator sets. */
export const DeviceSettingsRequest = z
  .object({
    mode: z.exactOptional(DeviceMode),
    reason: z.exactOptional(Reason),
    windows: z.exactOptional(
      z
        .array(
          z.object({ starts_at: Time, ends_at: Time, reason: Reason }).register(z.globalRegistry, {
            id: 'MaintenanceWindowRequest',
            fields: windowFields,
          }),
        )
        .check(
          z.maxLength(maxWindows),
          z.check((payload) => {
            for (const fault of windowFaults(payload.value)) reportFault(payload, fault);
          }),
        ),
    ),
    max_job_seconds: z.exactOptional(z.nullable(JobSeconds)),
    idle_seconds: z.exactOptional(z.nullable(IdleSeconds)),
    max_batch_seconds: z.exactOptional(z.nullable(BatchSeconds)),
  })
  .check(
    whole((settings) => {
      if (!isObject(settings)) return [];
      const { mode, reason } = settings;
      const missing = { type: 'missing', message: 'Field required' };
      if (Object.keys(settings).length === 0) return [{ ...missing, path: ['mode'] }];
      const isFree = mode === undefined || deviceModeNames.some((name) => name === mode && !needsReason(name));
      return !isFree && reason === undefined ? [{ ...missing, path: ['reason'] }] : [];
    }),
  )
  .register(z.globalRegistry, {
    id: 'DeviceSettingsRequest',
    fields: {
      ...settingFields,
      mode: fields.mode,
      reason: `Why, for users to read, and for anyone without a token. Required with any mode but ${modesThat(({ says }) => says === undefined)}.`,
      windows: 'All windows from now on; they replace the former ones. They must not overlap.',
    },
    example: { mode: 'PAUSED', reason: 'Calibration until the afternoon.' },
  });
export type DeviceSettingsRequest = z.output<typeof DeviceSettingsRequest>;

function* windowFaults(windows: readonly MaintenanceWindow[]): Generator<Fault> {
  const placed = windows.map((window, place) => ({ ...window, place }));
  for (const { starts_at, ends_at, place } of placed) {
    if (starts_at >= ends_at) {
      yield { type: 'value_error', path: [place, 'ends_at'], message: 'Input should be later than starts_at' };
    }
  }
  const inOrder = placed.sort((a, b) => (a.starts_at < b.starts_at ? -1 : 1));
  for (const [at, { starts_at, place }] of inOrder.entries()) {
    const before = inOrder[at - 1];
    if (before === undefined || before.ends_at <= starts_at) continue;
    yield { type: 'value_error', path: [place, 'starts_at'], message: 'Windows should not overlap' };
  }
}

export const AnnounceRequest = z
  .object({
    status: boundedText(256),
    specs: z.exactOptional(
      z.string().check(
        z.refine(
          (value: string) => escapedBytes(value) <= maxSpecsBytes,
          `At most ${maxSpecsBytes} bytes of escaped JSON.`,
        ),
        z.refine(
          (value: string) => value.isWellFormed() && specificationName(value) !== undefined,
          'Input should be the JSON text of an object with a name of 1 to 128 characters.',
        ),
      ),
    ),
    public: z.exactOptional(z.boolean()),
    idle_seconds: z.exactOptional(IdleSeconds),
    max_batch_seconds: z.exactOptional(BatchSeconds),
  })
  .register(z.globalRegistry, {
    id: 'AnnounceRequest',
    fields: {
      ...fields,
      status: 'The state of the device, for users to read: `UP` is shown as active.',
      specs: `${fields.specs} By default unchanged.`,
      public:
        'Whether anyone may read the specification; by default unchanged, and at first true for emulators (`EMU_…`).',
      idle_seconds:
        'How long an open batch may keep the device waiting for jobs; then it becomes `TIMED_OUT`. By default unchanged, and at first 120.',
      max_batch_seconds:
        'How long an open batch may have the device before other batches go first. By default unchanged, and at first 3,600.',
    },
    example: { status: 'UP', specs: '{"name": "FRESNEL", "dimensions": 2}' },
  });
export type AnnounceRequest = z.output<typeof AnnounceRequest>;

/** The facts of a specification by which users choose a device. */
export function specificationFacts(
  deviceType: string,
  specs: string | undefined,
): Pick<Device, 'max_atom_num' | 'is_emulator' | 'channels'> {
  const content = specs === undefined ? undefined : parseJson(specs);
  if (!isObject(content)) return { max_atom_num: null, is_emulator: null, channels: null };
  const { max_atom_num, is_virtual, channels } = content;
  return {
    max_atom_num: Count.safeParse(max_atom_num).data ?? null,
    is_emulator: is_virtual === true || deviceType.startsWith('EMU_'),
    channels: z.array(JsonObject()).safeParse(channels).data ?? null,
  };
}

/** The name that a specification gives its device; undefined when it gives none. */
export function specificationName(specs: string): string | undefined {
  const content = parseJson(specs);
  return isObject(content) ? boundedText(128).safeParse(content.name).data : undefined;
}
