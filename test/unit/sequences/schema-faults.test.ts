import { Ajv, type AnySchema } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exampleSequence } from '../../../functions/schemas/example-sequence.ts';
import { schemaFaults } from '../../../functions/sequences/schema-faults.ts';
import { loadSchemas } from '../../../functions/sequences/sequence-form.ts';
import specs from '../../../infra/local/demo/device-specs.json' with { type: 'json' };
import { cases } from '../../support/depth.ts';
import { seed } from '../../support/seed.ts';

const known = 'additionalProperties anyOf const enum items maxItems minItems properties required type $ref definitions';
const passed = '$id $schema description';

/** The keywords of a schema; the names of members and definitions are none. */
function keywords(schema: unknown, areNames = false): string[] {
  if (Array.isArray(schema)) return schema.flatMap((each) => keywords(each));
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, value]) => {
    const isMap = !areNames && (name === 'properties' || name === 'definitions');
    const isData = !areNames && ['const', 'enum', 'required'].includes(name);
    return [...(areNames ? [] : [name]), ...(isData ? [] : keywords(value, isMap))];
  });
}

/** Each way to a part of the value. */
function placesOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path];
  const parts = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...parts.flatMap(([key, part]) => placesOf(part, [...path, key]))];
}

/** The value with this part in the place; without the part where it is undefined. */
function changed(value: unknown, path: readonly (string | number)[], part: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return part;
  const copy = structuredClone(value) as Record<string | number, unknown>;
  if (rest.length === 0 && part === undefined && !Array.isArray(copy)) delete copy[key];
  else copy[key] = changed(copy[key], rest, part);
  return copy;
}

const schemas = await loadSchemas();

describe('the schemas', () => {
  it('use no keyword that the interpreter does not know', () => {
    expect(new Set(keywords(schemas)).difference(new Set(`${known} ${passed}`.split(' ')))).toEqual(
      new Set(Object.keys(schemas)),
    );
  });

  it('are judged as by Ajv, whatever changes in a sequence', () => {
    const ajv = new Ajv({ strict: false, schemas: Object.values(schemas) as AnySchema[] });
    const validate = ajv.getSchema('sequence-schema.json')!;
    const expression = { expression: 'neg', lhs: { expression: 'add', lhs: { variable: 'omega' }, rhs: [1] } };
    const wave = { kind: 'ramp', duration: 100, start: expression, stop: 1 };
    const full = {
      ...JSON.parse(exampleSequence),
      device: JSON.parse(specs.FRESNEL),
      layout: { coordinates: [[0, 1]] },
      magnetic_field: [0, 0, 1],
    };
    full.operations.push(
      { op: 'target', channel: 'global', target: [1, 2] },
      {
        op: 'add_dmm_detuning',
        dmm_name: 'dmm_0',
        waveform: { kind: 'composite', waveforms: [wave] },
        protocol: 'no-delay',
      },
    );
    const mappable = { ...full, register: [{ qid: 'a' }] };
    const flat = {
      ...full,
      device: JSON.parse(specs.EMU_MPS),
      register: [{ name: 'a', x: 0, y: 1, z: 2 }],
      layout: undefined,
    };
    const values = [full, mappable, JSON.parse(JSON.stringify(flat))];
    expect(values.map((value) => schemaFaults(schemas, 'sequence-schema.json', value))).toEqual([[], [], []]);
    const places = values.map((value) => placesOf(value).slice(1));
    const parts = [
      undefined,
      null,
      'text',
      0,
      true,
      [],
      [1],
      {},
      { variable: 'a' },
      { expression: 'neg', lhs: 1 },
      expression,
      wave,
    ];
    const change = fc.tuple(fc.nat(2), fc.nat(), fc.constantFrom(...parts), fc.nat(), fc.constantFrom(...parts));
    fc.assert(
      fc.property(change, ([at, first, part, second, other]) => {
        const [value, ways] = [values[at], places[at]!];
        const once = changed(value, ways[first % ways.length]!, part);
        const rest = placesOf(once).slice(1);
        const twice = second % 2 === 0 ? once : changed(once, rest[second % rest.length]!, other);
        expect(schemaFaults(schemas, 'sequence-schema.json', twice).length === 0).toBe(validate(twice));
      }),
      { seed, numRuns: cases(150, 10_000) },
    );
  });

  it('find all faults in linear time, at their places', () => {
    let lhs: unknown = 'deep';
    for (let depth = 0; depth < 40; depth++) lhs = { expression: 'add', lhs, rhs: { expression: 'neg', lhs: 1 } };
    const sequence = JSON.parse(exampleSequence);
    sequence.operations[0].phase = lhs;
    sequence.operations.push({ op: 'delay', channel: 7 }, { op: 'align', channels: ['global'], newer: 1 });
    const faults = schemaFaults(schemas, 'sequence-schema.json', sequence);
    expect(faults.map(({ path, kind }) => [path.filter((part) => part !== 'lhs').join('.'), kind])).toEqual([
      ['operations.0.phase', 'type'],
      ['operations.1.time', 'missing'],
      ['operations.1.channel', 'type'],
      ['operations.2.newer', 'name'],
    ]);
    expect(
      schemaFaults(schemas, 'sequence-schema.json', { ...sequence, register: Array(10_000).fill(0) }),
    ).toHaveLength(1_000);
  });
});
