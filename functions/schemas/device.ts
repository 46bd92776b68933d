import * as z from 'zod/mini';
import { Count, Timestamp } from './values.ts';

/** Whether a device takes work. */
export const Availability = z.enum(['ACTIVE', 'INACTIVE']);

/** A device as its table holds it: what it last announced. */
export const DeviceRow = z.object({
  device_type: z.string(),
  /** The name that its specification gives it. */
  name: z.string(),
  status: z.string(),
  availability: Availability,
  /** Pulser's abstract representation of the device: a JSON text, handed out as it was announced. */
  specs: z.string(),
  /** Whether anyone may read the specification. */
  public: z.boolean(),
  announced_at: Timestamp,
});
export type DeviceRow = z.infer<typeof DeviceRow>;

const DeviceType = z.string().register(z.globalRegistry, { examples: ['FRESNEL', 'EMU_MPS'] });

/** A device as users see it. */
export const Device = z.strictObject({
  device_type: DeviceType,
  status: z.string().register(z.globalRegistry, { examples: ['UP'] }),
  availability: Availability,
  queue_length: z.nullable(Count),
});
export type Device = z.infer<typeof Device>;

/** What the OpenAPI document says of it. */
export const deviceDescriptions = {
  device_type: 'Name by which batches ask for the device.',
  status: 'What the device last said of itself.',
  availability: 'Whether the device takes work.',
  queue_length: 'Batches that wait for the device; null while that is not known.',
} satisfies Record<keyof Device, string>;

/** A device's specification. */
export const DeviceSpecification = z.strictObject({
  device_type: DeviceType,
  specs: z.string().register(z.globalRegistry, { examples: ['{"name": "FRESNEL", "dimensions": 2}'] }),
});
export type DeviceSpecification = z.infer<typeof DeviceSpecification>;

/** What the OpenAPI document says of it. */
export const deviceSpecificationDescriptions = {
  device_type: deviceDescriptions.device_type,
  specs: 'Pulser’s abstract representation of the device: a JSON text.',
} satisfies Record<keyof DeviceSpecification, string>;

/** Specifications by device type. */
export const DeviceSpecifications = z.record(z.string(), z.string());
