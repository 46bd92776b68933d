import type { Operation } from '../../http/operation.ts';
import { UsageQuery, UsageReport } from '../../schemas/usage.ts';

export const operation = {
  tag: 'Usage',
  summary: 'Get the usage',
  description: `Sums of ended batches and jobs, by the day of their end. Up to three jobs of a batch that a worker has now may be
missing until its next one ends. Users see their own; operators see all (\`scope=all\`) or
one user’s (\`user_id\`), and what users are called; administrators of a project see all of it (\`project_id\`). With \`Accept: text/csv\` the rows are CSV (RFC 4180) with a header line and without the total; a cell
that a spreadsheet would run as a formula begins with an apostrophe. A report that exceeds one answer is refused (422): ask for
less.`,
  query: UsageQuery,
  success: { status: 200, data: () => UsageReport, csv: true },
  errors: ['insufficient_scope'],
} satisfies Operation;
