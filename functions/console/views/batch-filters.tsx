import { membersOf, type OwnProject } from '../parts/projects.ts';
import { AddressForm } from '../ui/form.tsx';
import { fromField, toField } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { Popover } from '../ui/popover.tsx';
import { texts } from '../ui/texts.ts';

const { batches: words } = texts;

const truths = ['true', 'false'] as const;

const optionWords: Readonly<Record<string, string>> = {
  ...texts.priorityWords,
  true: texts.common.yes,
  false: texts.common.no,
};

/**
 * Filters with a field of their own, in the order of the form; the status has its facets. The
 * address may have others.
 */
const filters = [
  { name: 'device_type' },
  { name: 'tag' },
  { name: 'id__starts_with' },
  { name: 'queue_priority', options: texts.priorities },
  { name: 'open', options: truths },
  { name: 'has_errors', options: truths },
  { name: 'project_id' },
  { name: 'user_id' },
  { name: 'min_jobs', type: 'number' },
  { name: 'max_jobs', type: 'number' },
  { name: 'created_after', type: 'datetime-local' },
  { name: 'created_before', type: 'datetime-local' },
  { name: 'start_date', type: 'datetime-local' },
  { name: 'end_date', type: 'datetime-local' },
] as const satisfies readonly { name: keyof typeof words.filters; options?: readonly string[]; type?: string }[];

/** How a list is sorted unless the address says so: the address need not say it. */
const usualOrder: Readonly<Record<string, string>> = { order_by: 'created_at', order_by_direction: 'DESC' };

const times = new Set<string>(
  filters.filter((each) => 'type' in each && each.type !== 'number').map(({ name }) => name),
);

interface Props {
  readonly address: string;
  readonly query: Readonly<Record<string, readonly string[]>>;
  /** The link that takes all filters away; undefined where there are none. */
  readonly clear: string | undefined;
  readonly projects: readonly OwnProject[];
  readonly apply: (values: Readonly<Record<string, string>>) => void;
}

/** The filters of the list. Projects and members are suggested by name, and asked for by id. */
export function BatchFilters({ address, query, clear, projects, apply }: Props) {
  const suggested: Readonly<Record<string, readonly (readonly [value: string, label: string])[]>> = {
    project_id: projects.map(({ id, name }) => [id, name]),
    user_id: membersOf(projects).map(({ user_id, user_name }) => [user_id, user_name ?? user_id]),
  };
  const hasFellows = suggested.user_id?.length !== 0 || query.user_id !== undefined;
  const shown = filters.filter(({ name }) => name !== 'user_id' || hasFellows);
  const read = (form: HTMLFormElement) =>
    Object.fromEntries(
      Array.from(new FormData(form)).flatMap(([name, entered]) => {
        const value = String(entered).trim();
        // Of several values the field shows the last: the others stay while it stays.
        const given = query[name] ?? [];
        if (given.length > 1 && value === given.at(-1)) return [];
        return [[name, value === usualOrder[name] ? '' : times.has(name) ? fromField(value) : value]];
      }),
    );
  return (
    <Popover
      openedBy="f"
      button={
        <>
          <Icon name="filter" />
          {words.filter} <kbd data-key="F" />
        </>
      }
    >
      {Object.entries(suggested).map(([name, values]) => (
        <datalist key={name} id={`known-${name}`}>
          {values.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </datalist>
      ))}
      <AddressForm look="form" address={`${address} ${hasFellows}`} apply={(form) => apply(read(form))}>
        {shown.map((filter) => {
          const value = query[filter.name]?.at(-1) ?? '';
          const label = words.filters[filter.name];
          if ('options' in filter) {
            return (
              <label key={filter.name}>
                {label}
                <select name={filter.name} value={value}>
                  <option value="">{words.any}</option>
                  {filter.options.map((each) => (
                    <option key={each} value={each}>
                      {optionWords[each] ?? each}
                    </option>
                  ))}
                </select>
              </label>
            );
          }
          const type: string = 'type' in filter ? filter.type : 'text';
          return (
            <label key={filter.name}>
              {label}
              <input
                name={filter.name}
                type={type as 'text'}
                list={filter.name in suggested ? `known-${filter.name}` : undefined}
                value={type === 'datetime-local' ? toField(value) : value}
              />
            </label>
          );
        })}
        <label>
          {words.order}
          <select name="order_by" value={query.order_by?.at(-1) ?? 'created_at'}>
            {Object.entries(words.orders).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          {words.direction}
          <select name="order_by_direction" value={query.order_by_direction?.at(-1) ?? 'DESC'}>
            <option value="DESC">{words.directions.DESC}</option>
            <option value="ASC">{words.directions.ASC}</option>
          </select>
        </label>
        <div class="actions">
          <button type="submit" class="main">
            {words.apply}
          </button>
          {clear !== undefined && <a href={clear}>{words.clear}</a>}
        </div>
      </AddressForm>
    </Popover>
  );
}
