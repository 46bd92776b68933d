import { describe, expect, it } from 'vitest';
import { type Entry, sentenceOf } from '../../../functions/console/views/act-sentence.ts';
import { AuditAction } from '../../../functions/schemas/audit.ts';

const ada = { user_id: '0f8d1c52-3b1e-4d59-9a53-6e2b7a1c4d10', user_name: 'Ada Lovelace' };
const batch = { ...ada, batch_id: 'f575fbab-2bec-458e-b877-f5dcf5643560', project_id: 'p', device_type: 'FRESNEL' };
const device = { device_type: 'FRESNEL' };
const subject = `user:${ada.user_id}`;

const context = {
  projectName: (id: string) => (id === 'known' ? 'Simulation' : undefined),
  batchLink: ({ batch_id }: Entry['target']) => `#/batch/${batch_id}`,
};

function write(act: Pick<Entry, 'action' | 'target'> & Partial<Entry>): string {
  const whole = { at: '2026-11-21T02:59:36.123000Z', operator: 'operator', operator_name: 'Grace Hopper' };
  const parts = sentenceOf({ ...whole, reason: null, before: null, after: null, ...act }, context);
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}

describe('sentenceOf', () => {
  const reason = 'Calibration until noon.';
  it.each<[string, Parameters<typeof write>[0]]>([
    [
      'paused FRESNEL: Calibration until noon.',
      { action: 'device.set', target: device, reason, after: { mode: 'PAUSED' } },
    ],
    ['opened FRESNEL.', { action: 'device.set', target: device, after: { mode: 'OPEN' } }],
    ['removed the maintenance windows of FRESNEL.', { action: 'device.set', target: device, after: { windows: [] } }],
    [
      'drained FRESNEL, and set the bounds of time of FRESNEL (a job at most 10 min, was none).',
      {
        ...{ action: 'device.set', target: device, before: { mode: 'OPEN', max_job_seconds: null } },
        after: { mode: 'DRAINING', max_job_seconds: 600 },
      },
    ],
    [
      'gave Ada Lovelace’s batch f575fbab… the priority HIGH (was LOW): The demonstration is at noon.',
      {
        ...{ action: 'batch.priority', target: batch, reason: 'The demonstration is at noon.' },
        ...{ before: { queue_priority: 'LOW' }, after: { queue_priority: 'HIGH' } },
      },
    ],
    [
      'canceled Ada Lovelace’s batch f575fbab…: No atoms.',
      { action: 'batch.cancel', target: batch, reason: 'No atoms.' },
    ],
    ['closed Ada Lovelace’s batch f575fbab…', { action: 'batch.close', target: batch }],
    ['looked at Ada Lovelace’s batch f575fbab…', { action: 'batch.read', target: batch }],
    ['canceled jobs of Ada Lovelace’s batch f575fbab…', { action: 'job.cancel', target: batch }],
    ['canceled a job of Ada Lovelace’s batch f575fbab…', { action: 'job.cancel', target: { ...batch, job_id: 'j' } }],
    [
      'set the limits of Ada Lovelace: at most 100 unfinished batches (was 50).',
      {
        ...{ action: 'limits.put', target: { subject, ...ada } },
        before: { max_unfinished_batches: 50, max_job_seconds: 60 },
        after: { max_unfinished_batches: 100, max_job_seconds: 60 },
      },
    ],
    [
      'set the limits of the project Simulation: at most 10 min for a job (was not set); Highest priority: none (was LOW).',
      {
        ...{ action: 'limits.put', target: { subject: 'project:known', project_id: 'known' } },
        before: { highest_priority: 'LOW' },
        after: { max_job_seconds: 600, highest_priority: null },
      },
    ],
    ['set the limits of everyone: none.', { action: 'limits.put', target: { subject: 'default' }, after: {} }],
    ['removed the limits of 0f8d1c52…', { action: 'limits.delete', target: { subject, user_id: ada.user_id } }],
  ])('%s', (sentence, act) => {
    expect(write(act)).toBe(sentence);
  });

  it('has a sentence for every action, also where nothing else is known of it', () => {
    for (const action of AuditAction.options) {
      const sentence = write({ action, target: { subject: 'default' } });
      expect(sentence).not.toContain(action);
      expect(sentence).toMatch(/^[a-z]/);
      expect(sentence).not.toMatch(/undefined|null/);
    }
  });

  it('names an action that it does not know', () => {
    expect(write({ action: 'moon.paint' as 'device.set', target: {} })).toBe('moon.paint.');
  });

  it('has the windows with their times and reasons', () => {
    const window = { starts_at: '2020-11-21T09:00:00Z', ends_at: '2020-11-22T12:00:00Z', reason: 'Laser' };
    const sentence = write({ action: 'device.set', target: device, after: { windows: [window] } });
    expect(sentence).toMatch(/^set the maintenance windows of FRESNEL \(2. Nov 2020 – 2. Nov 2020: Laser\)\.$/);
  });

  it('leads to what it is about', () => {
    const links = (act: Parameters<typeof write>[0]) =>
      sentenceOf(
        { ...act, at: '', operator: '', operator_name: null, reason: null, before: null, after: {} },
        context,
      ).flatMap((part) => (typeof part === 'string' ? [] : [part.link]));
    expect(links({ action: 'batch.read', target: batch })).toEqual([`#/batch/${batch.batch_id}`]);
    expect(links({ action: 'limits.put', target: { subject } })).toEqual([
      `#/operate/limits?${new URLSearchParams({ subject })}`,
    ]);
  });
});
