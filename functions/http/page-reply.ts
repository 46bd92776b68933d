import type { Page } from '../data/page.ts';
import { InvalidInput } from '../errors.ts';
import { fitsLambdaResponse } from './proxy-result.ts';
import { type Reply, successList } from './reply.ts';

/**
 * A page of a list. `start` and `end` are 0-based, `end` exclusive: the next offset; `Content-Range` counts from 1 and
 * includes both ends, as pages did before the envelope had a pagination. Throws InvalidInput for a page of more bytes
 * than one response holds: a smaller `limit` gets it.
 */
export function pageReply(query: { offset: number; limit: number }, { items, total }: Page<unknown>): Reply {
  const { offset, limit } = query;
  const end = Math.max(offset, Math.min(offset + limit, total));
  const reply = successList(
    items.map((item) => JSON.stringify(item)),
    { total, start: offset, end },
  );
  if (!fitsLambdaResponse(reply.body)) {
    const msg = 'The page is larger than a response may be: ask for fewer items';
    throw new InvalidInput([{ loc: ['query', 'limit'], msg, type: 'page_too_large' }]);
  }
  const range = items.length === 0 ? '*' : `${offset + 1}-${offset + items.length}`;
  return {
    ...reply,
    headers: { 'Content-Range': `${range}/${total}`, 'Access-Control-Expose-Headers': 'Content-Range' },
  };
}
