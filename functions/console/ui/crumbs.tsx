import type { ComponentChildren } from 'preact';
import { texts } from './texts.ts';

/** The way from a list to what is shown: links, and last the place itself. */
export function Crumbs({
  links,
  children,
}: {
  readonly links: readonly (readonly [name: string, link: string])[];
  readonly children: ComponentChildren;
}) {
  return (
    <nav class="crumbs" aria-label={texts.common.crumbs}>
      <ol>
        {links.map(([name, link]) => (
          <li key={link}>
            <a href={link}>
              <bdi>{name}</bdi>
            </a>
          </li>
        ))}
        <li aria-current="page">
          <bdi>{children}</bdi>
        </li>
      </ol>
    </nav>
  );
}
