import { texts } from '../ui/texts.ts';
import { nameOf } from './batch-name.ts';
import { groupsOf, type PreviewGroup } from './preview-groups.ts';
import type { Previewed } from './use-preview.ts';

const { preview: words } = texts;

/** How many batches of each group are named at once; the others on demand. */
const maxNamed = 5;

/** What is known of batches beside the preview: tags have their names. */
type Known = readonly { readonly id: string; readonly tags: readonly string[] }[];

/** What an act would do, before it is done. An act stays possible where that is not known. */
export function PreviewPart({
  previewed: { preview, failure, isOld },
  known = [],
}: {
  readonly previewed: Previewed;
  readonly known?: Known;
}) {
  const groups = preview === undefined ? [] : groupsOf(preview);
  return (
    <section class="preview full" role="status" aria-label={words.title} aria-busy={isOld ? 'true' : undefined}>
      <h3>{words.title}</h3>
      {failure !== undefined && (
        <>
          <p>{words.failed}</p>
          <p class="aside">{failure.message}</p>
        </>
      )}
      {failure === undefined && preview === undefined && <p class="aside">{isOld ? words.looking : words.nothing}</p>}
      {failure === undefined && preview !== undefined && (
        <>
          {preview.limits !== null && <p>{words.keepsAll}</p>}
          {preview.limits === null && groups.length === 0 && <p>{words.noBatch}</p>}
          {groups.map((group) => (
            <Group key={group.name} group={group} known={known} />
          ))}
          {preview.refuses_new === true && <p>{words.refusesNew}</p>}
          {!preview.is_complete && <p class="aside">{words.incomplete(preview.looked_at)}</p>}
        </>
      )}
    </section>
  );
}

function Group({ group: { name, batches }, known }: { readonly group: PreviewGroup; readonly known: Known }) {
  return (
    <>
      <p>
        <strong>{words.groups[name](batches.length)}</strong>
      </p>
      <Batches batches={batches.slice(0, maxNamed)} known={known} />
      {batches.length > maxNamed && (
        <details>
          <summary>{words.more(batches.length - maxNamed)}</summary>
          <Batches batches={batches.slice(maxNamed)} known={known} />
        </details>
      )}
    </>
  );
}

function Batches({ batches, known }: Pick<PreviewGroup, 'batches'> & { readonly known: Known }) {
  return (
    <ul>
      {batches.map(({ batch, how }) => (
        <li key={batch.batch_id} title={batch.batch_id}>
          {batch.user_name !== null && (
            <>
              <bdi>{batch.user_name}</bdi>:{' '}
            </>
          )}
          <bdi>{nameOf({ id: batch.batch_id, tags: [], ...known.find(({ id }) => id === batch.batch_id) })}</bdi>
          {how !== '' && `, ${how}`}
        </li>
      ))}
    </ul>
  );
}
