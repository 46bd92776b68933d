import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deviceModeNames, deviceModes, ruleNames, ruleWords } from '../../functions/device-modes.ts';
import { limitKinds, limitNames, limits } from '../../functions/limits.ts';
import { reasons } from '../../functions/reasons.ts';
import { jobRules, rules } from '../../functions/sequences/sequence-faults.ts';
import { readReport, reportRows } from '../acceptance/report.ts';
import { steps } from '../acceptance/steps.ts';
import { ceilingTable } from './ceilings.ts';
import { openCallTable, tokenTable } from './costs.ts';
import { background, batchStates, dataModel, jobStates, overview, useTable } from './drawings.ts';
import { notebookOf } from './notebook.ts';
import {
  bundleTable,
  callTable,
  claimTable,
  type Figures,
  growthTable,
  listProcessTable,
  listTable,
  localStackTable,
  markdownTable,
  postgresqlTable,
  throttlingTable,
  workerTable,
  writerTable,
} from './performance.ts';
import { quotaTable } from './quotas.ts';
import { readUnitsPlot } from './read-units-plot.ts';
import { roomTable } from './rooms.ts';
import { renderRunbook } from './runbook.ts';
import { costLines, costTable, priceTable } from './usage-costs.ts';

interface GeneratedDocument {
  /** Its path from the root of the repository. */
  readonly file: string;
  /** Its whole text, always the same for the same code. */
  readonly render: () => string | Promise<string>;
}

const root = join(import.meta.dirname, '../..');
const figures: Figures = JSON.parse(readFileSync(join(root, 'docs/reference/performance.json'), 'utf8'));

/** `npm run docs` writes them; a test fails while a file differs from what its program renders. */
export const documents: readonly GeneratedDocument[] = [
  page('README.md', { 'first program': firstProgram, overview, costs: () => costLines(figures) }),
  page('CONTRIBUTING.md', { rooms: roomTable }),
  page('docs/reference/architecture.md', {
    overview,
    uses: useTable,
    background,
    'data model': dataModel,
    'statuses of a batch': batchStates,
    'statuses of a job': jobStates,
  }),
  page('docs/reference/costs.md', { costs: () => costTable(figures), prices: priceTable }),
  page('docs/reference/errors.md', { reasons: reasonTable }),
  page('docs/reference/quotas.md', { quotas: quotaTable }),
  page('docs/reference/sequence-checks.md', { rules: ruleTable }),
  page('docs/reference/queue.md', { modes: modeTable }),
  page('docs/guides/laboratory.md', { modes: modeTable, limits: limitTable }),
  page('docs/guides/first-deployment.md', { acceptance: acceptanceTable }),
  page('docs/guides/operating.md', { 'calls without a token': openCallTable, 'calls with a token': tokenTable }),
  page('docs/reference/performance.md', {
    lists: () => listTable(figures.lists ?? {}),
    growth: () => growthTable(figures.lists ?? {}),
    ceilings: () => ceilingTable(figures),
    'CPU and memory of lists': () => listProcessTable(figures.lists ?? {}),
    PostgreSQL: () => postgresqlTable(figures.postgresql ?? {}),
    endpoints: () => callTable('call', figures.endpoints ?? []),
    events: () => callTable('event', figures.events ?? []),
    devices: () => callTable('call', figures.devices ?? []),
    claims: () => claimTable(figures.claims ?? []),
    writers: () => writerTable(figures.writers ?? []),
    workers: () => workerTable(figures.workers ?? []),
    throttling: () => throttlingTable(figures.throttling ?? []),
    bundles: () => bundleTable(figures.bundles ?? []),
    'local stack': () => localStackTable(figures.localStack ?? []),
  }),
  { file: 'docs/guides/runbook.md', render: renderRunbook },
  { file: 'docs/tutorial.ipynb', render: () => notebookOf(readFileSync(join(root, 'docs/tutorial.md'), 'utf8')) },
  { file: 'docs/reference/read-units.svg', render: () => readUnitsPlot(figures.lists ?? {}) },
];

/**
 * A page written by hand, but for the sections between `<!-- generated: NAME -->` and
 * `<!-- end -->`. Throws when the page lacks one of them.
 */
function page(file: string, sections: Readonly<Record<string, () => string | Promise<string>>>): GeneratedDocument {
  return {
    file,
    async render() {
      let text = readFileSync(join(root, file), 'utf8');
      for (const [name, section] of Object.entries(sections)) {
        const start = `<!-- generated: ${name} -->\n`;
        const from = text.indexOf(start);
        const to = text.indexOf('<!-- end -->', from);
        if (from < 0 || to < 0) throw new Error(`${file} has no section "${name}".`);
        text = `${text.slice(0, from + start.length)}\n${await section()}\n\n${text.slice(to)}`;
      }
      return text;
    },
  };
}

/** What a first program does once it is connected. */
function firstProgram(): string {
  const program = readFileSync(join(root, 'docs/first.py'), 'utf8');
  return `\`\`\`python\n${program.slice(program.indexOf('device = ')).trimEnd()}\n\`\`\``;
}

function acceptanceTable(): string {
  return markdownTable(
    ['step', 'proves', 'costs at most', 'checks in `.ci/run`', 'on AWS'],
    reportRows(steps, readReport()),
  );
}

function modeTable(): string {
  const rows = deviceModeNames.map((mode) => [
    `\`${mode}\``,
    ...ruleNames.map((rule) => (deviceModes[mode][rule] ? 'yes' : 'no')),
    deviceModes[mode].says,
  ]);
  return markdownTable(['mode', ...ruleNames.map((rule) => ruleWords[rule]), 'users read that it'], rows);
}

function ruleTable(): string {
  const rows = [...rules, ...jobRules].map(({ type, refuses, source }) => [`\`${type}\``, refuses, source]);
  return markdownTable(['type', 'refuses', 'where Pulser does'], rows);
}

function reasonTable(): string {
  const rows = Object.entries(reasons).map(([name, { status, meaning }]) => [status, `\`${name}\``, meaning]);
  return markdownTable(['status', 'reason', 'meaning'], rows);
}

function limitTable(): string {
  const rows = limitNames.map((name) => {
    const { kind, description } = limits[name];
    const { checked, refusal } = limitKinds[kind];
    return [`\`${name}\``, description, checked, refusal === null ? '' : `${reasons[refusal].status} \`${refusal}\``];
  });
  return markdownTable(['limit', 'counts or allows', 'checked', 'refusal'], rows);
}
