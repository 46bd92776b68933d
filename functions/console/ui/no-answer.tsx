import type { Loaded } from '../client/use-call.ts';
import { linkTo } from './address.ts';
import { Crumbs } from './crumbs.tsx';
import { texts } from './texts.ts';
import { visible } from './visible-text.ts';

/** The head of a view whose answer did not come: what was asked for, and the way back. */
export function NoAnswer({
  loaded: { answer, failure },
  title,
  id,
}: {
  readonly loaded: Pick<Loaded<unknown>, 'answer' | 'failure'>;
  readonly title: string;
  /** As the address has it. */
  readonly id: string;
}) {
  if (answer !== undefined || failure === undefined) return null;
  return (
    <>
      <Crumbs links={[[texts.views.batches, linkTo(['batches'])]]}>{title}</Crumbs>
      <div class="head">
        <h1>
          {title} <span class="soft">{visible(id.length > 36 ? `${id.slice(0, 35)}…` : id)}</span>
        </h1>
      </div>
    </>
  );
}
