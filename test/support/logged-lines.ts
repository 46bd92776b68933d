import { vi } from 'vitest';

/** The lines that functions log during the work, of this level and above. */
export async function loggedLines(
  work: () => Promise<unknown>,
  level: 'INFO' | 'DEBUG' = 'INFO',
  // biome-ignore lint/suspicious/noExplicitAny: what a line holds is the test's matter
): Promise<any[]> {
  const before = process.env.AWS_LAMBDA_LOG_LEVEL;
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', level);
  try {
    await work();
    return write.mock.calls.map(([line]) => JSON.parse(String(line)));
  } finally {
    write.mockRestore();
    vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', before);
  }
}
