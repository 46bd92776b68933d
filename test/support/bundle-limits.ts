/**
 * What bundles may hold at most, by the function's id in the stack; the others are as large as they
 * are.
 */
export const bundleLimits: Readonly<Record<string, { readonly bytes: number; readonly clients?: 0 }>> = {
  Authorizer: { bytes: 80_000, clients: 0 },
  ListBatches: { bytes: 480_000 },
  ListJobs: { bytes: 480_000 },
};
