import { go } from '../ui/address.ts';
import { texts } from '../ui/texts.ts';
import type { Scope } from './projects.ts';

/** More lists are a choice instead of links. */
const maxScopeLinks = 4;

interface ScopesProps {
  readonly scopes: readonly Scope[];
  readonly link: (changed: Readonly<Record<string, string | undefined>>) => string;
}

/** The lists to choose from: few are links side by side, many a choice. */
export function Scopes({ scopes, link }: ScopesProps) {
  if (scopes.length === 0) return null;
  // The owner that a list was filtered by may have nothing in another.
  const linkOf = ({ query }: Scope) => link({ ...query, user_id: undefined });
  if (scopes.length > maxScopeLinks) {
    return (
      <label class="scopes actions">
        {texts.scope.label}
        <select
          value={scopes.findIndex(({ isChosen }) => isChosen)}
          onChange={({ currentTarget }) => go(linkOf(scopes[currentTarget.selectedIndex]!))}
        >
          {scopes.map(({ name }, at) => (
            <option key={at} value={at}>
              {name}
            </option>
          ))}
        </select>
      </label>
    );
  }
  return (
    <nav class="choice" aria-label={texts.scope.label}>
      {scopes.map((each, at) => (
        <a key={at} href={linkOf(each)} aria-current={each.isChosen ? 'true' : undefined}>
          <bdi>{each.name}</bdi>
        </a>
      ))}
    </nav>
  );
}
