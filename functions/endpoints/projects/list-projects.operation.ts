import * as z from 'zod/mini';
import type { Operation } from '../../http/operation.ts';
import { Project } from '../../schemas/claims.ts';

export const operation = {
  tag: 'Projects',
  summary: 'Get all projects',
  description:
    'The projects that the token names; where it names none, those that the caller’s batches are of, named by their ids.',
  success: { status: 200, data: () => z.array(Project) },
} satisfies Operation;
