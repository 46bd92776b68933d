import { measureDevices } from '../../data/operators/device-metrics.ts';
import { endpoint } from '../../http/endpoint.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-metrics.operation.ts';
import { prometheusText } from './prometheus-text.ts';

export const handler = endpoint(routes.getMetrics, operation, async ({ db }) => ({
  body: prometheusText(await measureDevices(db)),
  headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' },
}));
