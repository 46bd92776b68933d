import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { Project } from '../../schemas/claims.ts';

export const operation = {
  tag: 'Projects',
  summary: 'Get all projects',
  description:
    'The projects in the token. If it has none, the projects of the caller’s batches, with their ids as names. Where the token gives a role, also who has batches in the project, and how many; the numbers are null above 200 members, and beyond 1,000 members of all projects.',
  success: { status: 200, data: () => z.array(Project()) },
} satisfies Operation;
