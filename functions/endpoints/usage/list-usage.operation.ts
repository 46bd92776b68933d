import type { Operation } from '../../http/operation.ts';
import { UsageQuery, UsageReport } from '../../schemas/usage.ts';

export const operation = {
  tag: 'Usage',
  summary: 'Get what was used',
  description: `Sums of the batches and jobs that ended, by the day of their end. Users see their own; operators everyone’s (\`scope=all\`) and
each user’s (\`user_id\`). With \`Accept: text/csv\` the rows are CSV (RFC 4180) with a header line and without the total; a cell that a
spreadsheet would run begins with an apostrophe. A report that exceeds one answer is refused (422): ask for less.`,
  query: UsageQuery,
  success: { status: 200, data: () => UsageReport, csv: true },
  errors: ['insufficient_scope'],
} satisfies Operation;
