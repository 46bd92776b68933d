/**
 * Whether a sequence has the form that Pulser reads. `deserialize_abstract_sequence`
 * (pulser/json/abstract_repr/deserializer.py) validates against the same schema first, and refuses
 * what the schema refuses.
 */

import type { SequenceContent, Specification } from '../pulser/sequence-content.ts';
import { isObject, parseJson } from '../values/json-text.ts';
import mockDevice from './pulser/mock-device.json' with { type: 'json' };
import { type SchemaFault, type Schemas, schemaFaults } from './schema-faults.ts';

let loaded: Promise<Schemas> | undefined;
let schemas: Schemas = {};

/**
 * Pulser's schemas, which whatever reads a sequence or a specification waits for first. They are
 * 65 kB of a bundle, which a cold start leaves alone.
 */
export async function loadSchemas(): Promise<Schemas> {
  loaded ??= importSchemas();
  schemas = await loaded;
  return schemas;
}

async function importSchemas(): Promise<Schemas> {
  const all = [
    import('./pulser/sequence-schema.json', { with: { type: 'json' } }),
    import('./pulser/device-schema.json', { with: { type: 'json' } }),
    import('./pulser/layout-schema.json', { with: { type: 'json' } }),
    import('./pulser/noise-schema.json', { with: { type: 'json' } }),
  ] as const;
  const [sequence, device, layout, noise] = await Promise.all(all);
  return {
    'sequence-schema.json': sequence.default,
    'device-schema.json': device.default,
    'layout-schema.json': layout.default,
    'noise-schema.json': noise.default,
  };
}

/** The version of pulser-core that the schemas are from. */
const schemaVersion = [1, 9, 1];

/** Schemas and rules are applied recursively, and a stack ends. */
const maxDepth = 100;

/** `content` is there where the form is known and right: only then can rules say more. */
export interface ReadForm {
  readonly content: SequenceContent | undefined;
  /** Why it has neither faults nor content. */
  readonly unjudged?: string;
  readonly faults: readonly SchemaFault[];
}

/**
 * Reads a parsed sequence. Another form than the schemas' has no faults and no content: one that
 * does not say `"version": "1"`, as none of Pulser's former serializer does, one of a later Pulser,
 * or one that does not name its Pulser and holds names that the schemas do not know. Nor is one
 * judged that is more than 100 levels deep. Needs `loadSchemas`.
 */
export function readForm(value: Readonly<Record<string, unknown>>): ReadForm {
  const { version, pulser_version } = value;
  if (version !== '1') return unchecked('it does not say `"version": "1"`');
  if (typeof pulser_version === 'string' && isLater(pulser_version)) {
    return unchecked(
      `it is from Pulser ${pulser_version}, and the check knows Pulser up to ${schemaVersion.join('.')}`,
    );
  }
  if (isDeeper(value, maxDepth)) return unchecked(`it is more than ${maxDepth} levels deep`);
  const faults = schemaFaults(schemas, 'sequence-schema.json', value);
  if (pulser_version === undefined && faults.some(({ kind }) => kind === 'name')) {
    return unchecked('it has names that the check does not know, and does not say which Pulser it is from');
  }
  return { content: faults.length === 0 ? (value as unknown as SequenceContent) : undefined, faults };
}

function unchecked(unjudged: string): ReadForm {
  return { content: undefined, faults: [], unjudged };
}

/**
 * Whether a sequence has none of the forms that Pulser has had: it names no version of a form, and
 * it is no object of the former serializer, which names its class.
 */
export function hasNoForm({ version, __module__ }: Readonly<Record<string, unknown>>): boolean {
  return typeof version !== 'string' && __module__ === undefined;
}

/** Whether a version is later than the schemas' or none that we can read. */
function isLater(version: string): boolean {
  const [, release] = /^(\d+(?:\.\d+)*)$/.exec(version) ?? [];
  if (release === undefined) return true;
  const parts = release.split('.').map(Number);
  const at = schemaVersion.findIndex((part, place) => part !== (parts[place] ?? 0));
  return at >= 0 ? (parts[at] ?? 0) > (schemaVersion[at] ?? 0) : parts.length > schemaVersion.length;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

/**
 * What a device's specification says; undefined where it is none of a form that we know. Needs
 * `loadSchemas`.
 */
export function readSpecification(text: string): Specification | undefined {
  const value = parseJson(text);
  if (!isObject(value) || isDeeper(value, maxDepth)) return undefined;
  if (typeof value.pulser_version === 'string' && isLater(value.pulser_version)) return undefined;
  return schemaFaults(schemas, 'device-schema.json', value).length === 0
    ? (value as unknown as Specification)
    : undefined;
}

/**
 * The device that a sequence was made for; undefined where it is only named, and we do not know it.
 */
export function ownDevice({ device }: SequenceContent): Specification | undefined {
  if (typeof device !== 'string') return device;
  return device === mockDevice.name ? (mockDevice as unknown as Specification) : undefined;
}
