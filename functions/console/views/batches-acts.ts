/** What can be done to several batches of a list at once. */

import type { Batch } from '../../schemas/batch.ts';
import { isFinalBatchStatus } from '../../statuses.ts';
import { go, linkTo } from '../ui/address.ts';
import { type Act, callForEach } from '../ui/choice-table.tsx';
import { texts } from '../ui/texts.ts';
import { changes } from './batch-actions.tsx';

type Run = Act['run'];

const change =
  (name: 'close' | 'erase'): Run =>
  (api, ids) =>
    callForEach(ids, (id) => api.call(changes[name].path(id), { method: changes[name].method }));

const rebatch: Run = (api, ids, { attempt }) =>
  callForEach(ids, (id) =>
    api.call(`/api/v1/batches/${id}/rebatch`, { method: 'POST', idempotencyKey: `${attempt} ${id}` }),
  );

const addTags: Run = async (api, ids, { lines }) => {
  // The list on the page may be some seconds old.
  const { data } = await api.call<Batch[]>('/api/v1/batches', { query: { id: ids, limit: ids.length } });
  const tagsOf = new Map(data.map(({ id, tags }) => [id, tags]));
  return callForEach(ids, (id) => {
    const body = [...new Set([...(tagsOf.get(id) ?? []), ...lines])];
    return api.call(`/api/v1/batches/${id}/tags`, { method: 'PATCH', body });
  });
};

const cancel: Run = async (api, batch_ids) => {
  const call = { method: 'PATCH', body: { batch_ids } } as const;
  return (await api.call<{ errors: Record<string, string> }>('/api/v1/batches/cancel', call)).data.errors;
};

const compare: Run = async (_api, ids) => {
  go(linkTo(['compare', ids.join(',')]));
  return {};
};

const { questions, ...labels } = texts.batches.acts;
const isAtWork = ({ status }: Batch) => !isFinalBatchStatus(status);

/** What the view of one batch offers, for many. */
export const batchActs: readonly Act<Batch>[] = [
  { label: labels.compare, run: compare },
  {
    label: labels.close,
    question: questions.close,
    fits: (batch) => batch.open && isAtWork(batch),
    run: change('close'),
  },
  { label: labels.rebatch, question: questions.rebatch, fits: ({ open }) => !open, run: rebatch },
  { label: labels.tags, question: questions.tags, lines: texts.batch.tagLines, run: addTags },
  { label: labels.cancel, isDanger: true, fits: isAtWork, run: cancel },
  {
    label: labels.erase,
    isDanger: true,
    question: questions.erase,
    fits: (batch) => !isAtWork(batch),
    run: change('erase'),
  },
];

/** Where batches of others are among them, what cannot be undone is asked first. */
export const actsOnOthers: readonly Act<Batch>[] = batchActs.map((act) =>
  act.run === cancel ? { ...act, question: texts.scope.cancel } : act,
);
