import { awsDeployment } from '../../../infra/smoke/aws-deployment.ts';
import { checks } from '../../../infra/smoke/checks.ts';
import { stackName } from './deploy.ts';

/** Promises that the emulator's gateway does not keep. This list may only shrink. */
const notKept = [
  // It neither reads nor writes gzip.
  'a gzipped body of 10 characters is read',
  'a gzipped body of 300,000 characters is read',
  'what says gzip and is not is 422',
  'answers are compressed for those who accept it, and only for them',
  // It answers preflights with 200.
  'a preflight of each path allows its methods and the token',
];

/** Waits for minutes. */
const notTried = 'a link ends';

/**
 * The smoke test's checks by HTTP, as for a deployment on AWS. Throws where a promise is not kept,
 * and where one is kept that is listed above.
 */
export async function runSmoke(token: string) {
  const deployment = await awsDeployment(stackName, token);
  const problems: string[] = [];
  let count = 0;
  // Logs, metrics and alarms need CloudWatch itself.
  const byHttp = checks.filter(([area]) => area !== 'operation');
  for (const [promise, check] of byHttp.flatMap(([, ofArea]) => Object.entries(ofArea))) {
    if (promise === notTried) continue;
    const problem = await check(deployment).then(
      () => undefined,
      (error: Error) => error.message,
    );
    count += 1;
    if (notKept.includes(promise)) {
      if (problem === undefined) problems.push(`Kept now, so take it off the list: ${promise}`);
    } else if (problem !== undefined) problems.push(`${promise}: ${problem}`);
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  console.log(`Smoke test: ${count - notKept.length} promises kept, ${notKept.length} beyond the emulator.`);
}
