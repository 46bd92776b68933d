/**
 * One local stack for all end-to-end tests, started as a person starts it: by its command, in a
 * folder of its own.
 */

import type { TestProject } from 'vitest/node';
import type { StackDescription } from '../../infra/local/greeting.ts';
import { startCommand } from './stack-command.ts';

declare module 'vitest' {
  interface ProvidedContext {
    localStack: StackDescription;
    /** Holds the issuer's key: tests make tokens for any user. */
    localStackData: string;
    /** Where its command runs, and what that has printed. */
    localStackCommand: { readonly directory: string; readonly output: string };
  }
}

export async function setup(project: TestProject) {
  const command = startCommand({ PORT: '0' }, [
    '--batches',
    '16',
    '--jobs-per-batch',
    '3',
    '--data',
    'data',
    '--deliver-webhooks',
  ]);
  project.provide('localStack', await command.ready());
  project.provide('localStackCommand', { directory: command.directory, output: command.output() });
  project.provide('localStackData', `${command.directory}/data`);
  return command.stop;
}
