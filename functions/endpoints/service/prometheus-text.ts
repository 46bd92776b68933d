/**
 * Metrics as Prometheus reads them: its text format 0.0.4
 * (prometheus.io/docs/instrumenting/exposition_formats), names by its conventions.
 */

import type { DeviceMetrics } from '../../data/operators/device-metrics.ts';
import { deviceModeNames } from '../../device-modes.ts';

interface Metric {
  /** What follows `quantum_batch_` in its name. */
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  /** By the values of its second label, if it has one. */
  readonly values: (device: DeviceMetrics) => number | Readonly<Record<string, number>>;
}

const modeMetric = 'device_mode';

const metrics: readonly Metric[] = [
  {
    name: 'device_busy_seconds_total',
    type: 'counter',
    help: 'How long workers were busy with jobs that have ended. While none runs, it equals the device_seconds of usage.',
    // A counter that falls is one that began anew: Prometheus would add all of it once more.
    values: ({ counted }) => counted / 1e6,
  },
  {
    name: 'device_queue_length',
    type: 'gauge',
    help: 'Batches that wait, and those that workers have.',
    values: ({ length }) => length,
  },
  {
    name: 'device_oldest_wait_seconds',
    type: 'gauge',
    help: 'Age of the oldest batch that waits; 0 when none does.',
    values: ({ oldestSeconds }) => oldestSeconds,
  },
  {
    name: 'device_batches_at_work',
    type: 'gauge',
    help: 'Batches that workers have.',
    values: ({ atWork }) => atWork.length,
  },
  {
    name: 'device_workers',
    type: 'gauge',
    help: 'Workers that are there, busy or idle.',
    values: ({ workers }) => workers,
  },
  {
    name: 'device_started_batches',
    type: 'gauge',
    help: 'Batches that got their first worker in the last whole minute.',
    values: ({ started }) => started.batches,
  },
  {
    name: 'device_started_batches_waited_seconds',
    type: 'gauge',
    help: 'How long the batches that got their first worker in the last whole minute had waited, all together.',
    values: ({ started }) => started.seconds,
  },
  {
    name: modeMetric,
    type: 'gauge',
    help: 'Whether an operator has set the device to this mode: 1 for one of the modes.',
    values: ({ mode }) => Object.fromEntries(deviceModeNames.map((name) => [name, name === mode ? 1 : 0])),
  },
];

/** The metrics of the devices. Each line ends with a line feed. */
export function prometheusText(devices: readonly DeviceMetrics[]): string {
  const lines = metrics.flatMap(({ name, type, help, values }) => {
    const full = `quantum_batch_${name}`;
    const samples = devices.flatMap((device) => {
      const value = values(device);
      const label = `device_type="${escapeLabel(device.deviceType)}"`;
      if (typeof value === 'number') return [`${full}{${label}} ${value}`];
      return Object.entries(value).map(([mode, each]) => `${full}{${label},mode="${mode}"} ${each}`);
    });
    return [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`, ...samples];
  });
  return lines.map((line) => `${line}\n`).join('');
}

/** A label's value: backslashes, quotes and line feeds are escaped. */
function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
