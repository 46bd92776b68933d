interface BundleLimit {
  readonly bytes: number;
  /** CPU time of a start, as a multiple of the bundled document client's: the benchmark's. */
  readonly timesDocumentClient: number;
  /** The named schemas that a start makes: most of what a start can make too much of. */
  readonly schemas: number;
}

/**
 * What bundles may hold and do at their start at most, by the function's id in the stack; the
 * others are as they are.
 */
export const bundleLimits: Readonly<Record<string, BundleLimit>> = {
  Authorizer: { bytes: 80_000, timesDocumentClient: 0.4, schemas: 0 },
  GetBatchStatus: { bytes: 310_000, timesDocumentClient: 1.45, schemas: 10 },
  ListBatches: { bytes: 350_000, timesDocumentClient: 1.5, schemas: 12 },
  ListJobs: { bytes: 350_000, timesDocumentClient: 1.5, schemas: 12 },
  ClaimBatch: { bytes: 420_000, timesDocumentClient: 1.8, schemas: 26 },
  CreateBatch: { bytes: 565_000, timesDocumentClient: 1.9, schemas: 24 },
  ReportJob: { bytes: 415_000, timesDocumentClient: 1.9, schemas: 22 },
};
