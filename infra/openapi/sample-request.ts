import type { Route, RouteName } from '../../functions/routes.ts';

/** A request that the samples of an operation make. */
export interface SampleRequest {
  readonly route: Route;
  /** By the names of the path's parameters. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A placeholder for the API's address; the page puts its own in its place. */
export const sampleAddress = 'https://api.example.org';

/** What the samples ask for where the operation alone would ask for everything. */
export const sampleQueries: Partial<Record<RouteName, SampleRequest['query']>> = {
  listBatches: { status: 'DONE', limit: '10' },
  listJobs: { status: 'DONE', limit: '10' },
  listDevices: { device_type: 'FRESNEL' },
  rebatch: { status: 'ERROR' },
  cancelJobs: { min_runs: '1000' },
  listUsage: { period: 'month', group_by: 'project_id' },
};
