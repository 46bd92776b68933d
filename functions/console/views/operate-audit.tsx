import type { Act } from '../../schemas/audit.ts';
import { go, linkTo, useAddress } from '../address.ts';
import { fromField, toField } from '../format.ts';
import { Empty, Long, Shown, Time, Wide } from '../parts/basics.tsx';
import { Field } from '../parts/field.tsx';
import { Pager } from '../parts/pager.tsx';
import { texts } from '../texts.ts';
import { useCall } from '../use-call.ts';

const { audit: words } = texts.operate;

const path = ['operate', 'audit'];
const pageSize = 50;
const times = new Set(['from', 'to']);
const filters = Object.keys(words.filters) as (keyof typeof words.filters)[];
const actions = ['device.set', 'batch.cancel', 'batch.priority', 'limits.put', 'limits.delete'];

/** What operators did, newest first. */
export function AuditPart() {
  const { query } = useAddress();
  const filtered = Object.fromEntries(filters.map((name) => [name, query.get(name) ?? undefined]));
  const offset = query.get('offset') ?? undefined;
  const list = useCall<Act[]>('/api/v1/audit', { query: { ...filtered, limit: pageSize, offset } });
  return (
    <>
      <AuditFilters query={query} />
      <Shown loaded={list}>
        {(acts) => (acts.length === 0 ? <Empty>{words.none}</Empty> : <AuditTable acts={acts} />)}
      </Shown>
      {list.answer?.pagination !== undefined && (
        <Pager
          pagination={list.answer.pagination}
          limit={pageSize}
          linkTo={(to) => linkTo(path, { ...filtered, offset: to === 0 ? undefined : String(to) })}
        />
      )}
    </>
  );
}

function AuditFilters({ query }: { readonly query: URLSearchParams }) {
  const apply = (form: HTMLFormElement) => {
    const values = Array.from(new FormData(form), ([name, value]) => {
      const text = String(value).trim();
      return [name, times.has(name) ? fromField(text) : text];
    });
    go(linkTo(path, Object.fromEntries(values)));
  };
  return (
    <form
      key={query.toString()}
      class="card form"
      onSubmit={(event) => {
        event.preventDefault();
        apply(event.currentTarget);
      }}
    >
      {filters.map((name) => {
        const value = query.get(name) ?? '';
        return (
          <Field key={name} label={words.filters[name]}>
            {name === 'action' ? (
              <select name={name} value={value}>
                <option value="">{texts.batches.any}</option>
                {actions.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            ) : times.has(name) ? (
              <input name={name} type="datetime-local" value={toField(value)} />
            ) : (
              <input name={name} value={value} />
            )}
          </Field>
        );
      })}
      <div class="actions">
        <button type="submit" class="main">
          {texts.batches.apply}
        </button>
        <a href={linkTo(path)}>{words.clear}</a>
      </div>
    </form>
  );
}

function AuditTable({ acts }: { readonly acts: readonly Act[] }) {
  return (
    <Wide label={words.title}>
      <table>
        <thead>
          <tr>
            {words.columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {acts.map(({ at, operator, action, target, reason, before, after }, index) => (
            <tr key={`${at} ${index}`}>
              <td>
                <Time time={at} />
              </td>
              <td class="name" title={operator}>
                <bdi>{operator}</bdi>
              </td>
              <td>{action}</td>
              <td class="text">
                <Members members={target} />
              </td>
              <td class="text">
                <bdi>{reason ?? texts.common.none}</bdi>
              </td>
              <td class="text">
                <Members members={before} />
              </td>
              <td class="text">
                <Members members={after} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

/** Names and values; of long values the beginning. */
function Members({ members }: { readonly members: Readonly<Record<string, unknown>> | null }) {
  if (members === null) return <>{texts.common.none}</>;
  return (
    <>
      {Object.entries(members).map(([name, value]) => (
        <div key={name}>
          <span class="aside">{name}</span>{' '}
          <bdi>
            <Long text={typeof value === 'string' ? value : JSON.stringify(value)} max={60} />
          </bdi>
        </div>
      ))}
    </>
  );
}
