import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SequenceText, sequenceFacts, sequenceText, undeclaredVariables } from '../../../functions/schemas/sequence.ts';
import { cpuTime } from '../../support/cpu-time.ts';
import { sequenceWith, sequenceText as textOf } from '../../support/sequence-text.ts';

const faultOf = (text: unknown) => {
  const parsed = SequenceText.safeParse(text);
  return parsed.success ? undefined : (parsed.error.issues[0] as { params?: { type?: string } }).params?.type;
};
const mappable = { register: [{ qid: 'q0' }, { qid: 'q1' }] };
const undeclared = (text: string, variables: Record<string, unknown>) =>
  undeclaredVariables(SequenceText.parse(text), variables);

describe('SequenceText', () => {
  it('keeps the text as it was sent, and gzips it', () => {
    const text = ` ${textOf({ name: 'Ω' }).replace('"x":0', '"x":1.50')}\n`;
    const sequence = SequenceText.parse(text);
    expect(sequence.text).toBe(text);
    expect(gunzipSync(sequence.gzipped).toString()).toBe(text);
  });

  it.each([
    ['a device of its own', { device: { name: 'FRESNEL' } }, 'FRESNEL'],
    ['a device of an old Pulser', { device: 'Chadoq2' }, undefined],
    ['a device without a name', { device: { version: '1' } }, undefined],
    ['a name that is no text', { device: { name: 7 } }, undefined],
    ['no device', { device: null }, undefined],
  ])('finds the name of %s', (_, content, name) => {
    expect(SequenceText.parse(textOf(content)).deviceName).toBe(name);
  });

  it.each(['', '{', 'null', '[]', '"{}"', '7', '{"a":NaN}', '{"a":"\udc00"}'])('refuses %j', (text) => {
    expect(faultOf(text)).toBe('json_invalid');
  });

  it('takes 350 KB once gzipped, and no more', () => {
    const hex = (bytes: number) => JSON.stringify({ samples: randomBytes(bytes).toString('base64url') });
    const fits = hex(345_000);
    expect(gzipSync(fits).length).toBeLessThanOrEqual(350 * 1024);
    expect(faultOf(fits)).toBeUndefined();
    expect(faultOf(hex(365_000))).toBe('bytes_too_long');
  });

  it.each([
    ['deep', (size: number) => `{"a":${'['.repeat(size / 2)}${']'.repeat(size / 2)}}`],
    ['wide', (size: number) => `{"variables":{${Array.from({ length: size / 12 }, (_, n) => `"v${n}":0`).join()}}}`],
    ['broken', (size: number) => `{"a":"${'\\'.repeat(size)}`],
    ['repetitive', (size: number) => `{"a":"${'a'.repeat(size)}"}`],
  ])('judges a text of 6 MB that is %s in bounded time', async (_, make) => {
    const text = make(6 * 1024 * 1024);
    expect(await cpuTime(() => SequenceText.safeParse(text))).toBeLessThan(15_000);
  });
});

describe('undeclaredVariables', () => {
  it.each([
    ['a value for each variable', sequenceWith('omega', 'delta'), { omega: [1], delta: 2 }, []],
    ['no values: a device decides what is missing', sequenceWith('omega'), {}, []],
    ['another name', sequenceWith('omega'), { omega: 1, Omega: 1 }, ['Omega']],
    ['a value for a sequence without variables', textOf(), { omega: 1 }, ['omega']],
    ['a value for a sequence that lacks the member', '{}', { omega: 1 }, ['omega']],
    ['names of every object', sequenceWith('omega'), { constructor: 1 }, ['constructor']],
    ['qubits of a mappable register', textOf(mappable), { qubits: { q0: 3 } }, []],
    ['qubits of a register that is not mappable', textOf(), { qubits: { q0: 3 } }, ['qubits']],
  ])('judges %s', (_, text, variables, names) => {
    expect(undeclared(text, variables)).toEqual(names);
  });
});

describe('a stored sequence', () => {
  it('is read again', () => {
    const { text, gzipped, content, ...facts } = SequenceText.parse(sequenceWith('omega'));
    expect(sequenceText(gzipped)).toBe(text);
    const stored = sequenceFacts(text);
    expect({ ...stored, content: stored.content() }).toEqual({ ...facts, content: content() });
  });

  it('is refused when it is none', () => {
    expect(() => sequenceFacts('[]')).toThrow('not the JSON of an object');
    expect(() => sequenceText(new Uint8Array([1, 2]))).toThrow();
    expect(() => sequenceText(gzipSync(' '.repeat(6 * 1024 * 1024 + 1)))).toThrow();
  });
});
