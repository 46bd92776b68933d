import type { Operation } from '../../http/operation.ts';
import { AuditEntry, AuditQuery } from '../../schemas/audit.ts';
import { listRules } from '../../schemas/query-parameters.ts';

export const operation = {
  tag: 'For operators',
  summary: 'List what operators and administrators did',
  description: `One entry for each call that changed something: of an operator, or of an administrator of a project who canceled or
closed the work of another; and one for each batch that an operator read. The newest is first. An entry is written together with
the change, and kept unchanged for 400 days. ${listRules}`,
  operator: true,
  projects: ({ query }: { query: AuditQuery }) => query.project_id ?? [],
  query: AuditQuery,
  success: { status: 200, list: AuditEntry, headers: ['Content-Range'] },
} satisfies Operation;
