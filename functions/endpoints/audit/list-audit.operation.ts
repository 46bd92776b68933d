import type { Operation } from '../../http/operation.ts';
import { AuditEntry, AuditQuery } from '../../schemas/audit.ts';
import { listRules } from '../../schemas/query-parameters.ts';

export const operation = {
  tag: 'For operators',
  summary: 'List what operators did',
  description: `One entry for each call of an operator that changed something, newest first. It is written together with the
change, and kept unchanged for 400 days. ${listRules}`,
  operator: true,
  query: AuditQuery,
  success: { status: 200, list: () => AuditEntry, headers: ['Content-Range'] },
} satisfies Operation;
