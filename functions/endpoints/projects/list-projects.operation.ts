import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { Project } from '../../schemas/claims.ts';

export const operation = {
  tag: 'Projects',
  summary: 'Get all projects',
  description:
    'The projects in the token. If it has none, the projects of the caller’s batches, with their ids as names.',
  success: { status: 200, data: () => z.array(Project) },
} satisfies Operation;
