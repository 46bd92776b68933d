/** Whom operators may choose: people with usage in the last year, or with a batch in a queue. */

import { useContext, useEffect, useState } from 'preact/hooks';
import { devicePath } from '../client/device-path.ts';
import { useSigned } from '../client/use-call.ts';
import { cutEnd } from '../ui/cut-text.ts';
import { KnownDevices } from './known-devices.ts';
import { useProjects } from './projects.ts';
import { lastYear } from './usage-periods.ts';

export interface Known {
  readonly id: string;
  readonly name: string;
}

interface KnownPeople {
  readonly users: readonly Known[];
  readonly projects: readonly Known[];
}

interface Seen {
  readonly user_id?: string;
  readonly user_name?: string | null;
  readonly project_id?: string | null;
}

/** Queues that are looked into, for people without usage. */
const maxQueues = 12;

/**
 * By name, for operators alone. What cannot be read is left out. It reads a year of usage, and a
 * page of each queue.
 */
export function useKnownPeople(): KnownPeople {
  const { api, session } = useSigned();
  const { isOperator } = session;
  const own = useProjects();
  const devices = (useContext(KnownDevices) ?? []).map(({ device_type }) => device_type).slice(0, maxQueues);
  const [seen, setSeen] = useState<readonly Seen[]>([]);
  useEffect(() => {
    if (!isOperator) return;
    const { from, to, period } = lastYear(new Date());
    const query = { scope: 'all', from, to, period, group_by: ['user_id', 'project_id'] };
    const asked = [
      api.call<{ rows: readonly Seen[] }>('/api/v1/usage', { query }).then(({ data }) => data.rows),
      ...devices.map((device) =>
        api.call<readonly Seen[]>(devicePath(device, '/queue'), { query: { limit: 100 } }).then(({ data }) => data),
      ),
    ];
    void Promise.allSettled(asked).then((all) =>
      setSeen(all.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))),
    );
  }, [api, isOperator, devices.join()]);
  return knownOf(seen, own);
}

/** Each once, by name; of those without a name the beginning of the id. */
export function knownOf(seen: readonly Seen[], own: readonly Known[]): KnownPeople {
  const users = new Map<string, string | undefined>();
  const projects = new Map(own.map(({ id, name }) => [id, name]));
  for (const { user_id, user_name, project_id } of seen) {
    if (user_id !== undefined) users.set(user_id, users.get(user_id) ?? user_name ?? undefined);
    if (project_id && !projects.has(project_id)) projects.set(project_id, project_id);
  }
  const sorted = (all: ReadonlyMap<string, string | undefined>) =>
    Array.from(all, ([id, name]) => ({ id, name: name === undefined || name === id ? cutEnd(id, 9) : name })).sort(
      (one, other) => one.name.localeCompare(other.name),
    );
  return { users: sorted(users), projects: sorted(projects) };
}

/** Of someone: the name where it is known, otherwise the id. */
export function nameAmong(known: readonly Known[], id: string): string {
  return known.find((each) => each.id === id)?.name ?? id;
}
