/** The view and what it shows, in the fragment of the page's address: a link shows the same. */

import { useEffect, useRef, useState } from 'preact/hooks';

interface Address {
  /** Of the path `#/batches/ID`: the parts, decoded. */
  readonly path: readonly string[];
  /** What follows `?`. */
  readonly query: URLSearchParams;
}

function readAddress(hash = location.hash): Address {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return { path: path.split('/').filter(Boolean).map(decodePart), query: new URLSearchParams(query) };
}

/** A link to a view, such as `#/batches?status=DONE`. Names without a value are left out. */
export function linkTo(
  path: readonly string[],
  query: Readonly<Record<string, string | readonly string[] | undefined>> = {},
) {
  const parameters = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) {
    for (const value of [values ?? []].flat()) if (value !== '') parameters.append(name, value);
  }
  const text = parameters.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Shows another view, as a click on a link does. */
export function go(link: string): void {
  location.hash = link;
}

/** The present address. The component is drawn again when it changes. */
export function useAddress(): Address {
  const [address, setAddress] = useState(readAddress);
  useEffect(() => {
    const change = () => setAddress(readAddress());
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return address;
}

/**
 * Shows a page that people go to from its top. The browser shows one that they come back to where
 * they left it. Other parameters of the same page move nothing.
 */
export function useTopOfPages(): void {
  const page = useAddress().path.join('/');
  const before = useRef(page);
  useEffect(() => {
    const isNew = history.state === null;
    if (isNew) history.replaceState('seen', '');
    if (isNew && page !== before.current) scrollTo(0, 0);
    before.current = page;
  });
}

const defaultLimit = '50';

/**
 * A list as the address has it: filters, order and page, by the names of the API, which checks
 * them; and the links that change them. `order` is how it is sorted unless the address says so.
 */
export function useListAddress(
  path: readonly string[],
  order: { readonly by: string; readonly direction: 'ASC' | 'DESC' },
) {
  const { query: parameters } = useAddress();
  const query = Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name)]));
  const {
    order_by = [order.by],
    order_by_direction = [order.direction],
    limit = [defaultLimit],
    offset,
    ...filters
  } = query;
  const link = (changed: Readonly<Record<string, string | readonly string[] | undefined>>) =>
    linkTo(path, { ...query, offset: undefined, ...changed });
  return {
    /** What the API is asked. */
    query: { ...query, order_by, order_by_direction, limit },
    filters,
    isFiltered: Object.keys(filters).length > 0,
    /** To the first page of the list with these parameters changed. */
    link,
    sorting: {
      by: order_by.at(-1) ?? '',
      direction: order_by_direction.at(-1) ?? '',
      linkTo: (by: string, direction: 'ASC' | 'DESC') => link({ order_by: by, order_by_direction: direction }),
    },
    pages: {
      limit: Number(limit.at(-1)),
      linkTo: (offset: number) => link({ offset: offset === 0 ? undefined : String(offset) }),
      linkToLimit: (rows: number) => link({ limit: String(rows) }),
    },
  };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
