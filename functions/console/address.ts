/** The view and what it shows, in the fragment of the page's address: a link shows the same. */

import { useEffect, useState } from 'preact/hooks';

export interface Address {
  /** Of the path `#/batches/ID`: the parts, decoded. */
  readonly path: readonly string[];
  /** What follows `?`. */
  readonly query: URLSearchParams;
}

export function readAddress(hash = location.hash): Address {
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

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
