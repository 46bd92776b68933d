/** What the pictures of the documents show: batches as a group has them, with simulated counts. */

import { randomNumbers } from '../../../infra/local/demo/seeded-random.ts';
import { deviceContent, sequenceText } from '../../support/sequence-text.ts';
import type { Laboratory, Outcome } from './laboratory.ts';
import { sweep } from './program.ts';
import { counter } from './user-checks.ts';

const nanoseconds = 660;
const shots = 200;

/** A pulse on three atoms that block each other, with the variable `omega`. */
export function rabi(device: string): string {
  const constant = (value: unknown) => ({ kind: 'constant', duration: nanoseconds, value });
  const amplitude = constant({ expression: 'index', lhs: { variable: 'omega' }, rhs: 0 });
  const pulse = { op: 'pulse', channel: 'ising', protocol: 'min-delay', phase: 0, post_phase_shift: 0 };
  return sequenceText({
    name: 'Rabi scan',
    register: [
      { name: 'q0', x: -2.75, y: -1.6 },
      { name: 'q1', x: 2.75, y: -1.6 },
      { name: 'q2', x: 0, y: 3.2 },
    ],
    variables: { omega: { type: 'float', value: [0] } },
    device: deviceContent(device),
    operations: [{ ...pulse, amplitude, detuning: constant(0) }],
  });
}

/** Of three blockaded atoms at most one is excited, at √3 times the frequency of a single one. */
function rabiCounts(omega: number, random: () => number): Record<string, number> {
  const excited = Math.sin((Math.sqrt(3) * omega * nanoseconds) / 2_000) ** 2;
  // Atoms decay, and detectors err.
  const seen = 0.5 + (excited - 0.5) * 0.92 * Math.exp(-omega / 40);
  const counts: Record<string, number> = {};
  for (let shot = 0; shot < shots; shot++) {
    const bits = random() < seen ? ['100', '010', '001'][Math.floor(random() * 3)]! : '000';
    const other = random() < 0.01 ? '110' : bits;
    counts[other] = (counts[other] ?? 0) + 1;
  }
  return counts;
}

/** The job of the scan, counted from 0, that fails. */
const failing = 36;

/** Makes them all. Answers with the scan, and with the first job of an array of nine atoms. */
export async function makePictured({ call, device, work }: Laboratory, project_id: string) {
  const random = randomNumbers(1);
  const create = async (name: string, tags: readonly string[], program: string, omegas: readonly number[]) => {
    const jobs = omegas.map((omega) => ({ runs: program === 'rabi' ? shots : 600, variables: { omega } }));
    const sequence_builder = program === 'rabi' ? rabi(device) : sweep(device, 'adiabatic sweep');
    const body = { project_id, device_type: device, sequence_builder, tags: [`name:${name}`, ...tags], jobs };
    return (await call<{ id: string }>('/api/v1/batches', { method: 'POST', body })).id;
  };
  const run = async (id: string, outcomeOf: (at: number) => Outcome, max?: number) => {
    while ((await work(outcomeOf, max)) !== id);
  };
  const omegas = Array.from({ length: 50 }, (_, at) => 0.25 * (at + 1));
  const array = await create('Antiferromagnet 3×3', ['af', 'paper-2026'], 'sweep', [8, 10, 12.5]);
  await run(array, () => ({ counter }));
  const failed = await create('Blockade radius, two atoms', ['blockade'], 'sweep', [9, 9.5, 10, 10.5]);
  await run(failed, () => ({ errors: ['The laser lost its lock.'] }));
  const scan = await create('Rabi scan over ω', ['rabi', 'blockade'], 'rabi', omegas);
  await run(scan, (at) =>
    at === failing ? { errors: ['The laser lost its lock.'] } : { counter: rabiCounts(omegas[at]!, random) },
  );
  const part = await create('Ramsey, detuning −2 … 2', ['ramsey'], 'sweep', omegas.slice(0, 41));
  await run(part, () => ({ counter }), 23);
  for (const [name, tag] of [
    ['MIS on 24 atoms', 'mis'],
    ['Quench, chain of 17', 'quench'],
    ['Detection errors, morning', 'calibration'],
  ] as const) {
    await create(name, [tag], 'sweep', omegas.slice(0, 8));
  }
  const [job] = await call<{ id: string }[]>(`/api/v2/jobs?batch_id=${array}&status=DONE`);
  return { scan, job: job!.id };
}
