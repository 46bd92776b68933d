import { join, resolve } from 'node:path';

/** This checkout of the repository. */
export const here = resolve(import.meta.dirname, '../..');

/**
 * What the benchmark measures of a checkout of this repository, by its folder: of this one, or of
 * another commit beside it, with packages of its own. Its types are taken for this one's.
 */
export async function partsOf(root: string) {
  const part = (path: string) => import(join(root, path));
  return {
    ...((await part('functions/data/batches.ts')) as Pick<
      typeof import('../../functions/data/batches.ts'),
      'listBatches'
    >),
    ...((await part('functions/data/jobs.ts')) as Pick<typeof import('../../functions/data/jobs.ts'), 'listJobs'>),
    ...((await part('functions/data/new-batches.ts')) as Pick<
      typeof import('../../functions/data/new-batches.ts'),
      'createBatch'
    >),
    ...((await part('functions/data/lifecycle/lifecycle.ts')) as Pick<
      typeof import('../../functions/data/lifecycle/lifecycle.ts'),
      'lifecycle'
    >),
    ...((await part('functions/data/columns/lists.ts')) as Pick<
      typeof import('../../functions/data/columns/lists.ts'),
      'batchList' | 'jobList'
    >),
    ...((await part('functions/data/dynamodb/client.ts')) as typeof import('../../functions/data/dynamodb/client.ts')),
    ...((await part('test/support/load-list.ts')) as Pick<typeof import('../support/load-list.ts'), 'loadList'>),
    ...((await part('test/support/create-tables.ts')) as typeof import('../support/create-tables.ts')),
  };
}
