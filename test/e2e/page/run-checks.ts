export type Check = () => Promise<string | undefined>;

/**
 * Makes the checks in their order and prints each. The exit code becomes 1 when one fails; with
 * `stopAtFailure` that is the last one, because the others go on from where it was to lead.
 */
export async function runChecks(
  checks: Readonly<Record<string, Check>>,
  { stopAtFailure = false }: { readonly stopAtFailure?: boolean } = {},
): Promise<void> {
  const counts = { passed: 0, failed: 0 };
  for (const [name, check] of Object.entries(checks)) {
    try {
      const detail = await check();
      counts.passed += 1;
      console.log(`ok      ${name}${detail === undefined ? '' : ` (${detail})`}`);
    } catch (error) {
      counts.failed += 1;
      console.log(`FAILED  ${name}\n${(error as Error).stack}`);
      if (stopAtFailure) break;
    }
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  if (counts.failed > 0) process.exitCode = 1;
}
