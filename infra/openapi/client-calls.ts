import type { RouteName } from '../../functions/routes.ts';
import type { SampleRequest } from './sample-request.ts';

/** How `pasqal-cloud` makes the request of an operation. */
export interface ClientCall {
  /** Beyond the client itself. */
  readonly imports?: readonly string[];
  /** Statements that use `client`. `literal` writes a value in Python. */
  statements(request: SampleRequest & { literal(value: unknown, indentation?: string): string }): string[];
  /** Whether the client must know the project of the request's body. */
  readonly projectId?: true;
}

const filters = (name: string) => `from pasqal_cloud.utils.filters import ${name}`;
const statuses = (name: string) => `from pasqal_cloud.utils.constants import ${name}`;

/** A call with the id of the path, which prints what it answers with. */
const ofBatch = (call: (id: string) => string): ClientCall => ({
  statements: ({ path, literal }) => [`print(${call(literal(path.batch_id))})`],
});
const ofJob = (call: (id: string) => string): ClientCall => ({
  statements: ({ path, literal }) => [`print(${call(literal(path.job_id))})`],
});

/** The operations that `pasqal-cloud` 0.24 has a call for; the others are plain requests. */
export const clientCalls: Partial<Record<RouteName, ClientCall>> = {
  listBatches: {
    imports: [filters('BatchFilters, PaginationParams'), statuses('BatchStatus')],
    statements: ({ query }) => [
      `page = client.get_batches(BatchFilters(status=BatchStatus.${query.status}), PaginationParams(limit=${query.limit}))`,
      'print(page.total, page.results)',
    ],
  },
  createBatch: {
    imports: ['from pasqal_cloud.device import DeviceTypeName'],
    projectId: true,
    statements({ body, literal }) {
      const { sequence_builder, jobs, device_type, open, tags } = body as Record<string, unknown>;
      return [
        'batch = client.create_batch(',
        `    ${literal(sequence_builder)},`,
        `    jobs=${literal(jobs, '    ')},`,
        `    open=${literal(open)},`,
        `    device_type=DeviceTypeName.${device_type},`,
        `    tags=${literal(tags, '    ')},`,
        ')',
        'print(batch.id, batch.status)',
      ];
    },
  },
  listJobs: {
    imports: [filters('JobFilters, PaginationParams'), statuses('JobStatus')],
    statements: ({ query }) => [
      `page = client.get_jobs(JobFilters(status=JobStatus.${query.status}), PaginationParams(limit=${query.limit}))`,
      'print(page.total, page.results)',
    ],
  },
  addJobs: {
    statements: ({ path, body, literal }) => [
      `batch = client.add_jobs(${literal(path.batch_id)}, ${literal(body)})`,
      'print(batch.ordered_jobs)',
    ],
  },
  getBatch: ofBatch((id) => `client.get_batch(${id})`),
  getBatchStatus: ofBatch((id) => `client.get_batch_status(${id})`),
  closeBatch: ofBatch((id) => `client.close_batch(${id})`),
  cancelBatch: ofBatch((id) => `client.cancel_batch(${id})`),
  setTags: {
    statements: ({ path, body, literal }) => [
      `print(client.set_batch_tags(${literal(path.batch_id)}, ${literal(body)}))`,
    ],
  },
  cancelBatches: {
    statements: ({ body, literal }) => {
      const { batch_ids } = body as { batch_ids: readonly string[] };
      return [`print(client.cancel_batches(${literal(batch_ids)}))`];
    },
  },
  rebatch: {
    imports: [filters('RebatchFilters'), statuses('JobStatus')],
    statements: ({ path, query, literal }) => [
      `print(client.rebatch(${literal(path.batch_id)}, RebatchFilters(status=JobStatus.${query.status})))`,
    ],
  },
  cancelJobs: {
    imports: [filters('CancelJobFilters')],
    statements: ({ path, query, literal }) => [
      `print(client.cancel_jobs(${literal(path.batch_id)}, CancelJobFilters(min_runs=${query.min_runs})))`,
    ],
  },
  getJob: ofJob((id) => `client.get_job(${id})`),
  getJobStatus: ofJob((id) => `client.get_job_status(${id})`),
  cancelJob: ofJob((id) => `client.cancel_job(${id})`),
  getResultsLink: ofJob((id) => `client.get_job(${id}).full_result`),
  listDeviceSpecifications: { statements: () => ['print(client.get_device_specs_dict())'] },
  listPublicSpecifications: { statements: () => ['print(client.get_device_specs_dict())'] },
  listProjects: { statements: () => ['print(client.get_all_projects())'] },
};
