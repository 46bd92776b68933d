import { describe, expect, it } from 'vitest';
import { checkSequences } from '../../../../functions/data/batches/sequence-checks.ts';
import type { JobRequest } from '../../../../functions/schemas/batch-request.ts';
import { sequenceFacts } from '../../../../functions/schemas/sequence.ts';
import { deviceContent, sequenceText } from '../../../support/sequence-text.ts';

const job: JobRequest = { runs: 1, variables: null, sequence: null };
const faultsOf = async (text: string, jobs: readonly JobRequest[] = [job]) =>
  (
    await checkSequences({
      sequence: sequenceFacts(text),
      place: ['body', 'sequence_builder'],
      jobs,
      jobsPlace: ['body', 'jobs'],
      device: { device_type: 'NEW', isAnnounced: false },
    })
  ).faults;

const shift = { op: 'phase_shift', basis: 'ground-rydberg', targets: [0], phi: 'DEEP' };
const pulse = {
  ...{ op: 'pulse', channel: 'ising', protocol: 'min-delay', phase: 0, post_phase_shift: 0, amplitude: 'DEEP' },
  detuning: { kind: 'constant', duration: 100, value: 0 },
};
const nested = (operation: object, [opening, closing]: readonly [string, string], levels: number) =>
  sequenceText({ pulser_version: '1.9.1', operations: [operation] }).replace(
    '"DEEP"',
    `${opening.repeat(levels)}{}${closing.repeat(levels)}`,
  );
const shapes = [
  [shift, ['{"expression":"neg","lhs":', '}']],
  [pulse, ['{"kind":"composite","waveforms":[', ']}']],
] as const;

describe('a sequence of a hostile form', () => {
  it.each(shapes)('passes unjudged where it is deeper than a stack: %o', async (operation, brackets) => {
    expect(await faultsOf(nested(operation, brackets, 40))).not.toEqual([]);
    expect(await faultsOf(nested(operation, brackets, 50_000))).toEqual([]);
  });

  it('may have more faults than a call may have arguments', async () => {
    const many = Object.fromEntries(Array.from({ length: 130_000 }, (_, at) => [at, 0]));
    expect(await faultsOf(sequenceText({ ...many, pulser_version: '1.9.1' }))).toHaveLength(1_000);
    const register = Array.from({ length: 130_000 }, (_, at) => ({ name: `${at}`, x: 9, y: at }));
    const device = deviceContent('A', { max_radial_distance: 1 });
    expect(await faultsOf(sequenceText({ register, device }))).toHaveLength(10_000);
  });

  it('makes no work after 10,000 faults', async () => {
    const variables = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`v${at}`, { type: 'int', value: [0] }]),
    );
    const phi = { expression: 'index', lhs: { variable: 'v0' }, rhs: 0 };
    const unread = new Proxy(job, {
      get: () => {
        throw new Error('This job was looked at.');
      },
    });
    expect(await faultsOf(sequenceText({ variables, operations: [{ ...shift, phi }] }), [job, unread])).toHaveLength(
      10_000,
    );
  });
});
