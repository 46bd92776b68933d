import { deviceContent, sequenceText } from '../../support/sequence-text.ts';

const omega = { expression: 'index', lhs: { variable: 'omega' }, rhs: 0 };
const pulse = (amplitude: object, detuning: object) => ({
  ...{ op: 'pulse', channel: 'ising', protocol: 'min-delay', phase: 0, post_phase_shift: 0, amplitude, detuning },
});
const constant = (duration: number, value: unknown) => ({ kind: 'constant', duration, value });
const ramp = (duration: number, start: unknown, stop: unknown) => ({ kind: 'ramp', duration, start, stop });

/** A sweep over nine atoms in a square, as Pulser writes it. It declares `omega`. */
export function sweep(device: string, name: string): string {
  return sequenceText({
    name,
    register: Array.from({ length: 9 }, (_, at) => ({ name: `q${at}`, x: 6 * (at % 3), y: 6 * Math.floor(at / 3) })),
    variables: { omega: { type: 'float', value: [0] } },
    device: deviceContent(device),
    operations: [
      pulse(ramp(400, 0, omega), constant(400, -8)),
      pulse(constant(1_600, omega), ramp(1_600, -8, 10)),
      pulse(ramp(400, omega, 0), constant(400, 10)),
    ],
  });
}
