import { beforeEach, describe, expect, it, vi } from 'vitest';
import { startFunctions, stopFunctions } from '../../../infra/restore/stop-functions.ts';
import { contexts } from '../../support/contexts.ts';
import { synthesize } from '../../support/synthesize.ts';

vi.spyOn(console, 'log').mockImplementation(() => undefined);
// Stage prod, which reserves environments for some functions.
const template = JSON.parse((await synthesize({ ...contexts.withDevices, concurrency: undefined })).text);

/** The names of functions and event sources are their logical ids here. */
const concurrency = new Map<string, number>();
const enabled = new Map<string, boolean>();
beforeEach(() => {
  concurrency.clear();
  enabled.clear();
});

async function account(service: string, command: string, ...parameters: string[]) {
  const { Resources } = template as { Resources: Record<string, { Type: string }> };
  const [, name = '', , value] = parameters;
  if (command === 'get-template') return { TemplateBody: template };
  if (command === 'list-stack-resources') {
    const StackResourceSummaries = Object.entries(Resources).map(([id, { Type }]) => ({
      ...{ LogicalResourceId: id, PhysicalResourceId: id, ResourceType: Type },
    }));
    return { StackResourceSummaries };
  }
  if (command === 'update-event-source-mapping') enabled.set(name, parameters.at(-1) === '--enabled');
  else if (command === 'put-function-concurrency') concurrency.set(name, Number(value));
  else if (command === 'delete-function-concurrency') concurrency.delete(name);
  else throw new Error(`${service} ${command}`);
  return {};
}

describe('stopping and starting', () => {
  it('can be repeated, and needs nothing from the machine that stopped', async () => {
    await stopFunctions('Stack', account);
    const stopped = [new Map(concurrency), new Map(enabled)];
    expect(concurrency.size).toBeGreaterThan(2);
    expect(new Set(concurrency.values())).toEqual(new Set([0]));
    expect(enabled.size).toBeGreaterThan(5);
    expect(new Set(enabled.values())).toEqual(new Set([false]));
    // A deployment makes event sources anew, which are enabled.
    for (const id of enabled.keys()) enabled.set(id, true);
    await stopFunctions('Stack', account);
    expect([concurrency, enabled]).toEqual(stopped);
    for (let time = 0; time < 2; time++) {
      await startFunctions('Stack', account);
      expect([...concurrency]).toEqual([[expect.stringMatching(/^ApiAuthorizer/), 100]]);
      expect(new Set(enabled.values())).toEqual(new Set([true]));
    }
  });
});
