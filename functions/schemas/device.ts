import * as z from 'zod/mini';
import { escapedBytes, isObject, parseJson } from '../json-text.ts';
import { TextsFilter } from './query-parameters.ts';
import { boundedText } from './sent-values.ts';
import { Count, Timestamp } from './values.ts';

/** Whether a device says that it is up. */
export const Availability = z.enum(['ACTIVE', 'INACTIVE']).register(z.globalRegistry, { id: 'Availability' });

/** Whether an operator lets a device work. */
export const DeviceMode = z
  .enum(['OPEN', 'DRAINING', 'PAUSED', 'CLOSED', 'RETIRED'])
  .register(z.globalRegistry, { id: 'DeviceMode' });
export type DeviceMode = z.infer<typeof DeviceMode>;

/** A time in which the device is paused. */
export const MaintenanceWindow = z.strictObject({ starts_at: Timestamp, ends_at: Timestamp, reason: z.string() });

/** A device as its table holds it: what it last announced. */
export const DeviceRow = z.object({
  device_type: z.string(),
  /** The name that its specification gives it; absent without one. */
  name: z.exactOptional(z.string()),
  status: z.string(),
  availability: Availability,
  /**
   * Pulser's abstract representation of the device: a JSON text, handed out as it was announced.
   * Absent until one is announced.
   */
  specs: z.exactOptional(z.string()),
  /** Whether anyone may read the specification. */
  public: z.boolean(),
  announced_at: Timestamp,
});
export type DeviceRow = z.infer<typeof DeviceRow>;

const DeviceType = z.string().register(z.globalRegistry, { examples: ['FRESNEL', 'EMU_MPS'] });
const fields = {
  device_type: 'Name by which batches ask for the device.',
  status: 'The status that the device reported last.',
  availability: 'Whether its status is `UP`.',
  queue_length: 'Number of batches that wait for the device or are at it; null beyond 1,000.',
  specs: 'Pulser’s abstract representation of the device: a JSON text.',
};

/** A device as users see it. */
export const Device = z
  .strictObject({
    device_type: DeviceType,
    status: z.string().register(z.globalRegistry, { examples: ['UP'] }),
    availability: Availability,
    queue_length: z.nullable(Count),
  })
  .register(z.globalRegistry, { id: 'ProducedDeviceResponse', fields });

export const DeviceSpecification = z
  .strictObject({
    device_type: DeviceType,
    specs: z.string().register(z.globalRegistry, { examples: ['{"name": "FRESNEL", "dimensions": 2}'] }),
  })
  .register(z.globalRegistry, { id: 'ProducedDeviceSpecificationResponse', fields });

/** Specifications by device type. */
export const DeviceSpecifications = z
  .record(z.string(), z.string())
  .register(z.globalRegistry, { examples: [{ FRESNEL: '{"name": "FRESNEL", "dimensions": 2}' }] });

/** Parameters of a path that names a device. */
export const DevicePath = z
  .object({ device_type: boundedText(128) })
  .register(z.globalRegistry, { fields, example: { device_type: 'FRESNEL' } });

/** The device that a call is for. */
export const deviceOfPath = ({ path }: { readonly path: z.output<typeof DevicePath> }) => path.device_type;

/** Parameters of the list of devices. */
export const DeviceListQuery = z.object({ device_type: TextsFilter }).register(z.globalRegistry, { fields });

/** One answer holds the specifications of 30 devices of this size (data/devices.ts). */
const maxSpecsBytes = 200_000;

/** What a device announces. */
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
    idle_seconds: z.exactOptional(z.int().check(z.gte(10), z.lte(86_400))),
    max_batch_seconds: z.exactOptional(z.int().check(z.gte(60), z.lte(604_800))),
  })
  .register(z.globalRegistry, {
    id: 'AnnounceRequest',
    fields: {
      ...fields,
      status: 'How the device is, for users to read: `UP` is shown as active.',
      specs: `${fields.specs} By default as before.`,
      public:
        'Whether anyone may read the specification; by default as before, and at first true for emulators (`EMU_…`).',
      idle_seconds:
        'How long an open batch may keep the device waiting for jobs; then it is `TIMED_OUT`. By default as before, and at first 120.',
      max_batch_seconds:
        'After so long at the device an open batch goes behind the others. By default as before, and at first 3,600.',
    },
    example: { status: 'UP', specs: '{"name": "FRESNEL", "dimensions": 2}' },
  });
export type AnnounceRequest = z.output<typeof AnnounceRequest>;

/** The name that a specification gives its device; undefined when it gives none. */
export function specificationName(specs: string): string | undefined {
  const content = parseJson(specs);
  return isObject(content) ? boundedText(128).safeParse(content.name).data : undefined;
}
