/** `npm run accept`: deploys a stack, examines it, and writes down what it found. */

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aws } from '../commands/aws-cli.ts';
import { cdk } from '../commands/cdk-cli.ts';
import { readJsonFile } from '../commands/json-file.ts';
import { runCommand } from '../commands/run-command.ts';
import { SetupProblem } from '../commands/setup-problem.ts';
import { deployAssembly } from '../deploy/deploy-stage.ts';
import { withCallers } from './acceptance.ts';
import { type Report, reportFile } from './report.ts';
import { restorableTime } from './restore-way.ts';
import { runSteps } from './run-steps.ts';
import { type Step, steps } from './steps.ts';

const usage = `Usage: npm run accept -- --stage dev [-c NAME=VALUE]… [--with-restore] [--from STEP | --again STEP]

Deploys the stage, examines it, removes what it made for that, and writes a report, which you commit. The AWS CLI and the SDK take
their usual region and credentials. What held before for the same commit is not done again.
  -c NAME=VALUE   a setting of the deployment, as for cdk deploy
  --with-restore  also restores all tables, in stage dev alone (docs/guides/restoring.md)
  --from STEP     this step and all after it, whatever held before
  --again STEP    this step alone, and the removal of what it made
  --report FILE   ${reportFile} by default; npm run docs makes its table
Steps: ${Object.keys(steps).join(', ')}.
Exit code 0: nothing fails. 1: something does.`;

const options = {
  stage: { type: 'string' },
  context: { type: 'string', short: 'c', multiple: true },
  'with-restore': { type: 'boolean', default: false },
  from: { type: 'string' },
  again: { type: 'string' },
  report: { type: 'string', default: reportFile },
} as const;

await runCommand({ usage, options }, async ({ stage, context = [], from, again, report: file, ...values }) => {
  const restores = values['with-restore'];
  if (stage === undefined) throw new SetupProblem(usage);
  if (restores && stage !== 'dev') throw new SetupProblem('--with-restore rehearses in stage dev alone.');
  const unknown = [from, again].find((name) => name !== undefined && !Object.hasOwn(steps, name));
  if (unknown !== undefined) throw new SetupProblem(`There is no step ${unknown}: ${Object.keys(steps).join(', ')}.`);
  const stack = `QuantumBatchApi-${stage}`;
  const assembly = join('.local/acceptance', stage);
  const settings = [`stage=${stage}`, ...context].flatMap((setting) => ['-c', setting]);
  await cdk('synth', '--quiet', '--output', assembly, ...settings);
  const found = readJsonFile<Report>(file);
  const acceptance = withCallers({
    ...{ stack, assembly, aws },
    restorableTime: () => restorableTime({ aws, stack }),
    async deploy(added = {}) {
      const more = Object.entries(added).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      if (more.length > 0) await cdk('synth', '--quiet', '--output', assembly, ...settings, ...more);
      const options = ['--require-approval', 'never', '--import-existing-resources'];
      // Restored tables replace the others: that is meant.
      if (more.length > 0) await cdk('deploy', '--app', assembly, ...options);
      else await deployAssembly({ stack, assembly, mayLose: [], options }, { aws, cdk });
    },
  });
  const dollars = Object.values<Step>(steps).reduce((sum, each) => sum + each.dollars, 0);
  console.log(`${stack}: at most ${dollars.toFixed(2)} $, beside what it costs at rest.`);
  const report = await runSteps(acceptance, {
    ...{ steps, restores, from, again },
    report: found?.stack === stack && found.engine === 'AWS' ? found : { engine: 'AWS', stack, steps: {} },
    commit: execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim(),
    print: (line) => console.log(line),
    save: (each) => writeFileSync(file, `${JSON.stringify(each, null, 2)}\n`),
  });
  const outcomes = Object.values(report.steps).flatMap((step) => Object.values(step.checks));
  const failed = outcomes.filter(({ result }) => result === 'fails').length;
  console.log(`\n${failed} fail. The report is ${file}: commit it, with what npm run docs makes of it.`);
  return failed === 0 ? 0 : 1;
});
