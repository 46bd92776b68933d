/** What the pictures of the documents show: batches as a group has them, with simulated counts. */

import type { DeviceMinutes } from '../../../functions/schemas/device-minutes.ts';
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
export async function makePictured({ call, device, take, work }: Laboratory, project_id: string) {
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
  await take('control-pc');
  const [job] = await call<{ id: string }[]>(`/api/v2/jobs?batch_id=${array}&status=DONE`);
  return { scan, job: job!.id };
}

/** A day of a machine as `GET /devices/{device_type}/minutes` shows it: busy in working hours. */
export function simulatedDay(device_type: string): DeviceMinutes {
  const random = randomNumbers(2);
  const step = 300;
  const end = Math.floor(Date.now() / 1_000 / step) * step;
  const minutes = Array.from({ length: 288 }, (_, at) => {
    const time = end - (288 - at) * step;
    const hour = (time / 3_600) % 24;
    const crowd = 7 * Math.exp(-(((hour - 11) / 2.5) ** 2)) + 5 * Math.exp(-(((hour - 16) / 2) ** 2));
    const queue_length = Math.max(0, Math.round(10 * (crowd + 1.5 * (random() - 0.4))) / 10);
    const batches_started = queue_length > 0 ? 1 + Math.floor(2 * random()) : 0;
    const busy_seconds = Math.round(step * Math.min(0.98, queue_length * (0.6 + 0.2 * random())));
    return {
      ...{ at: new Date(1_000 * time).toISOString().replace('Z', '000Z'), queue_length, batches_started, busy_seconds },
      longest_queue: Math.ceil(queue_length),
      waited_seconds: Math.round(batches_started * queue_length * 95 * (0.8 + 0.4 * random())),
      workers: 1,
    };
  });
  return { device_type, step, minutes };
}
