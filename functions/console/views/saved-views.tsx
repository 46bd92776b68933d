import { useState } from 'preact/hooks';
import { batchStatuses, batchStatusNames } from '../../statuses.ts';
import { useSigned } from '../client/use-call.ts';
import { linkTo } from '../ui/address.ts';
import { onSubmit } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { isObject, parseJson } from '../ui/json-object.ts';
import { Popover } from '../ui/popover.tsx';
import { texts } from '../ui/texts.ts';

const { batches: words } = texts;

interface SavedView {
  readonly name: string;
  /** The fragment of its address. */
  readonly address: string;
}

function isView(value: unknown): value is SavedView {
  return isObject(value) && typeof value.name === 'string' && String(value.address).startsWith('#/');
}

const weekMilliseconds = 7 * 86_400_000;

/** What waits or is at work. */
const atWork = batchStatusNames.filter((name) => batchStatuses[name].stage < 2);

/** What anyone may want to see; times are counted from now. */
function usualViews(): readonly SavedView[] {
  const created_after = new Date(Date.now() - weekMilliseconds).toISOString().slice(0, 16);
  return [
    { name: words.views.atWork, address: linkTo(['batches'], { status: atWork }) },
    {
      name: words.views.failed,
      address: linkTo(['batches'], { has_errors: 'true', created_after: `${created_after}Z` }),
    },
  ];
}

/**
 * Lists under a name of one's own: filters and order are in the address, so a view is an address.
 * Kept in this browser, for the person who has signed in.
 */
export function SavedViews() {
  const { session } = useSigned();
  const key = `views ${session.userId}`;
  const [views, setViews] = useState<readonly SavedView[]>(() => {
    const kept = parseJson(localStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isView) : [];
  });
  const keep = (changed: readonly SavedView[]) => {
    localStorage.setItem(key, JSON.stringify(changed));
    setViews(changed);
  };
  const add = (form: HTMLFormElement) => {
    const name = String(new FormData(form).get('name')).trim();
    if (name === '') return;
    keep([...views.filter((view) => view.name !== name), { name, address: location.hash || linkTo(['batches']) }]);
    form.reset();
  };
  return (
    <Popover
      label={words.views.title}
      menu
      button={
        <>
          {words.views.title}
          <Icon name="down" />
        </>
      }
    >
      <ul class="plain">
        {[...usualViews(), ...views].map((view) => (
          <li key={view.name} class="bar">
            <a href={view.address}>
              <bdi>{view.name}</bdi>
            </a>
            {views.includes(view) && (
              <button
                type="button"
                class="quiet tiny push"
                aria-label={`${words.views.remove} ${view.name}`}
                onClick={() => keep(views.filter((each) => each !== view))}
              >
                <Icon name="cross" />
              </button>
            )}
          </li>
        ))}
      </ul>
      <form class="bar below" onSubmit={onSubmit(add)}>
        <label>
          {words.views.name}
          <input name="name" required maxLength={60} />
        </label>
        <button type="submit" class="low">
          {words.views.save}
        </button>
      </form>
    </Popover>
  );
}
