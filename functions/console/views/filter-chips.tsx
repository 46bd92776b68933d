import { membersOf, type OwnProject } from '../parts/projects.ts';
import { formatMoment } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { statusWord } from '../ui/status-looks.ts';
import { texts } from '../ui/texts.ts';
import { visible } from '../ui/visible-text.ts';

const { batches: words } = texts;

type Filters = Readonly<Record<string, readonly string[]>>;

interface Props {
  /** The filters that no facet or scope shows, by the names of the API. */
  readonly filters: Filters;
  readonly projects: readonly OwnProject[];
  readonly link: (changed: Readonly<Record<string, undefined>>) => string;
}

/** Every filter in force as a link that takes it away. */
export function FilterChips({ filters, projects, link }: Props) {
  return Object.entries(filters).map(([name, values]) => {
    const label = Object.hasOwn(words.filters, name) ? words.filters[name as keyof typeof words.filters] : name;
    // A name and a tag may be called the same.
    const shown = [...new Set(values.map((value) => visible(shownValue(name, value, projects))))].join(', ');
    return (
      <a
        key={name}
        class="chip"
        href={link({ [name]: undefined })}
        aria-label={`${words.removeFilter} ${label}: ${shown}`}
      >
        <bdi>
          {label}: {shown}
        </bdi>
        <Icon name="cross" />
      </a>
    );
  });
}

const times = new Set(['created_after', 'created_before', 'start_date', 'end_date']);

/** A value of a filter as people read it. */
function shownValue(name: string, value: string, projects: readonly OwnProject[]): string {
  if (name === 'status') return statusWord(value);
  if (name === 'project_id') return projects.find(({ id }) => id === value)?.name ?? value;
  if (name === 'user_id') return membersOf(projects).find(({ user_id }) => user_id === value)?.user_name ?? value;
  if (times.has(name) && !Number.isNaN(Date.parse(value))) return formatMoment(value);
  if (value === 'true' || value === 'false') return texts.common[value === 'true' ? 'yes' : 'no'];
  return value.replace(/^name:/, '');
}
