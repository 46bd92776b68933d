import type { Batch } from '../../schemas/batch.ts';
import { batchStatusNames } from '../../statuses.ts';
import { useCall } from '../client/use-call.ts';
import { nameOf } from '../parts/batch-name.ts';
import { useIsAnnounced } from '../parts/known-devices.ts';
import { scopesOf, useProjects } from '../parts/projects.ts';
import { Scopes } from '../parts/scopes.tsx';
import { go, linkTo, useListAddress } from '../ui/address.ts';
import { Empty, type Named, Shown } from '../ui/basics.tsx';
import { ChoiceTable } from '../ui/choice-table.tsx';
import { Facets } from '../ui/facets.tsx';
import { useRowKeys } from '../ui/keys.ts';
import { Pager } from '../ui/pager.tsx';
import { texts } from '../ui/texts.ts';
import { batchColumns } from './batch-columns.tsx';
import { BatchFilters } from './batch-filters.tsx';
import { BatchSearch } from './batch-search.tsx';
import { actsOnOthers, batchActs } from './batches-acts.ts';
import { FilterChips } from './filter-chips.tsx';
import { SavedViews } from './saved-views.tsx';

const { batches: words } = texts;

/** Seconds between two looks at the list where the service asks for no other pace. */
const lookSeconds = 10;

export function BatchesView() {
  const address = useListAddress(['batches'], { by: 'created_at', direction: 'DESC' });
  const { query, filters: filtered, link, sorting, pages } = address;
  const projects = useProjects();
  const isAnnounced = useIsAnnounced();
  useRowKeys();
  const { scope: [scope] = [], project_id: [project_id] = [], status = [], ...others } = filtered;
  const scopes = scopesOf(projects, { scope, project_id }, texts.scope);
  const chips = scope === undefined && project_id !== undefined ? { ...others, project_id: [project_id] } : others;
  const isFiltered = Object.keys(chips).length > 0 || status.length > 0;
  const none = Object.fromEntries([...Object.keys(others), 'status'].map((name) => [name, undefined]));
  const clear = link({ ...none, project_id: scope && project_id });
  const hasOthers = scope !== undefined || filtered.user_id !== undefined;
  const list = useCall<Named<Batch>[]>('/api/v1/batches', { query, keepsAnswer: true, again: () => lookSeconds });
  const counts = useCall<[]>('/api/v1/batches', {
    query: { ...filtered, status: null, count_by: 'status' },
    keepsAnswer: true,
    again: () => lookSeconds,
  });
  const reload = () => {
    list.reload();
    counts.reload();
  };
  return (
    <>
      <div class="head">
        <h1>{texts.views.batches}</h1>
        <Scopes scopes={scopes} link={link} />
        <div class="bar push">
          <BatchSearch rows={list.answer?.data ?? []} apply={(asked) => go(link(asked))} />
          <SavedViews />
        </div>
      </div>
      <div class="bar filters">
        <Facets
          label={words.columns.status}
          counts={counts.answer?.pagination?.counts}
          chosen={status}
          statuses={batchStatusNames}
          isOld={counts.isOld}
          linkOf={(each) => link({ status: each })}
        />
        <div class="bar push">
          <FilterChips filters={chips} projects={projects} link={link} />
          <BatchFilters
            address={JSON.stringify(query)}
            query={{ ...filtered, order_by: query.order_by, order_by_direction: query.order_by_direction }}
            clear={isFiltered ? clear : undefined}
            projects={projects}
            apply={(values) => go(link(values))}
          />
        </div>
      </div>
      <Shown loaded={{ ...list, reload }}>
        {(batches) =>
          batches.length === 0 ? (
            <Empty>
              <p>{isFiltered ? words.noMatch : scope === undefined ? words.none : texts.scope.none}</p>
              <a class="button main" href={isFiltered ? clear : linkTo(['new'])}>
                {isFiltered ? words.clear : words.first}
              </a>
            </Empty>
          ) : (
            <ChoiceTable
              label={texts.views.batches}
              kind="rows cards-below"
              words={words}
              columns={batchColumns(batches, {
                toTag: (tag) => link({ tag }),
                toOwner: hasOthers ? (user_id) => link({ user_id }) : undefined,
                isAnnounced,
              })}
              rows={batches}
              nameOf={nameOf}
              isOld={list.isOld}
              sorting={sorting}
              acts={hasOthers ? actsOnOthers : batchActs}
              reload={reload}
            />
          )
        }
      </Shown>
      <Pager pagination={list.answer?.pagination} {...pages} />
    </>
  );
}
