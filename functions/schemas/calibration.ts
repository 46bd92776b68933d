/**
 * What a machine measures of itself, and reports: numbers by name, and a document as it likes. The
 * calibrations of a device are numbered from 1 without gaps, and never change.
 */

import * as z from 'zod/mini';
import { isObject, roundNumbers } from '../values/json-text.ts';
import { DevicePath } from './device.ts';
import { type Fault, printable, reportFault } from './faults.ts';
import { jsonObject, Time } from './sent-values.ts';
import { JsonText } from './stored-values.ts';
import { Count, JsonObject, Timestamp } from './values.ts';

const maxNumbers = 50;
const maxDocumentBytes = 65_536;
const namePattern = '^[A-Za-z0-9_.-]{1,64}$';

const fields = {
  number: 'Its number among the calibrations of the device, from 1.',
  device_type: 'The device.',
  numbers: `What was measured: 1 to ${maxNumbers} finite numbers by name. A name has 1 to 64 letters, digits, \`_\`, \`-\` and \`.\`.`,
  document: `Whatever else the machine reports: a JSON object of at most ${maxDocumentBytes} bytes; null if there is none.`,
  valid_from:
    'From when on it holds. In force is the calibration with the latest `valid_from` that has come; of equal ones the one with the highest number.',
  created_at: 'When it was reported.',
};

/** A member named `__proto__` is one like any other: `z.record` would leave it out. */
const Named = z
  .custom<Readonly<Record<string, number>>>(isObject, {
    message: 'Input should be a valid dictionary',
    params: { type: 'dict_type' },
  })
  .check(
    z.check((payload) => {
      for (const fault of numberFaults(payload.value)) reportFault(payload, fault);
    }),
  )
  .register(z.globalRegistry, {
    type: 'object',
    minProperties: 1,
    maxProperties: maxNumbers,
    propertyNames: { pattern: namePattern },
    additionalProperties: { type: 'number' },
  });

/** A name may be one of those whose numbers keep their digits in bodies. */
const Numbers = z.pipe(
  z.transform((value: unknown) => roundNumbers(value, new Set())),
  Named,
);

function* numberFaults(numbers: Readonly<Record<string, unknown>>): Generator<Fault> {
  const members = Object.entries(numbers);
  if (members.length === 0 || members.length > maxNumbers) {
    const type = members.length === 0 ? 'too_short' : 'too_long';
    return yield { type, path: [], message: `Input should have 1 to ${maxNumbers} members` };
  }
  for (const [name, value] of members) {
    const path = [printable(name)];
    if (!new RegExp(namePattern).test(name)) {
      yield { type: 'string_pattern_mismatch', path, message: `Names should match pattern '${namePattern}'` };
    } else if (typeof value !== 'number') {
      yield { type: 'float_type', path, message: 'Input should be a valid number' };
    } else if (!Number.isFinite(value)) {
      yield { type: 'finite_number', path, message: 'Input should be a finite number' };
    }
  }
}

const Document = jsonObject(8 * maxDocumentBytes).check(
  z.refine(
    (value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= maxDocumentBytes,
    `At most ${maxDocumentBytes} bytes of JSON.`,
  ),
);

/** What a machine reports. */
export const CalibrationRequest = z
  .object({
    numbers: Numbers,
    document: z.exactOptional(z.nullable(Document)),
    valid_from: z.exactOptional(Time),
  })
  .register(z.globalRegistry, {
    id: 'CalibrationRequest',
    fields: { ...fields, valid_from: `${fields.valid_from} It may be past or to come; by default now.` },
    example: { numbers: { p_false_pos: 0.012, p_false_neg: 0.031, temperature: 27.5 } },
  });
export type CalibrationRequest = z.output<typeof CalibrationRequest>;

/** A calibration as its item holds it. Its document is in an item of its own. */
export const CalibrationRow = z.object({
  number: Count,
  device_type: z.string(),
  /** A text, as JsonText says why. */
  numbers: JsonText,
  valid_from: Timestamp,
  created_at: Timestamp,
});

const example = {
  number: 42,
  device_type: 'FRESNEL',
  numbers: { p_false_pos: 0.012, p_false_neg: 0.031, temperature: 27.5 },
  valid_from: '2026-11-21T02:50:00.000000Z',
  created_at: '2026-11-21T02:59:36.123000Z',
};

/** A calibration as the list shows it. */
export const ListedCalibration = z
  .strictObject({
    number: Count,
    device_type: z.string(),
    numbers: z.record(z.string(), z.number()),
    valid_from: Timestamp,
    created_at: Timestamp,
  })
  .register(z.globalRegistry, { id: 'ProducedListedCalibrationResponse', fields, examples: [example] });
export type ListedCalibration = z.infer<typeof ListedCalibration>;

/** A calibration with its document. */
export const Calibration = z
  .strictObject({ ...ListedCalibration.shape, document: z.nullable(JsonObject()) })
  .register(z.globalRegistry, {
    id: 'ProducedCalibrationResponse',
    fields,
    examples: [{ ...example, document: { operator: 'night shift' } }],
  });
export type Calibration = z.infer<typeof Calibration>;

/** The number of a calibration; `latest`: the highest. */
const CalibrationNumber = z.pipe(
  z
    .string()
    .check(z.regex(/^(latest|[1-9]\d{0,8})$/, 'Input should be the number of a calibration, or latest'))
    .register(z.globalRegistry, { examples: ['latest', '42'] }),
  z.transform((text) => (text === 'latest' ? text : Number(text))),
);

export const CalibrationPath = z.object({ ...DevicePath.shape, number: CalibrationNumber }).register(z.globalRegistry, {
  fields: { ...fields, number: 'The number of a calibration, or `latest` for the highest number.' },
  example: { device_type: 'FRESNEL', number: 'latest' },
});
export type CalibrationPath = z.output<typeof CalibrationPath>;
