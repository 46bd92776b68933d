import type { APIGatewayProxyEvent } from 'aws-lambda';
import { parameterSchemas } from './deprecation.ts';
import type { Operation } from './operation.ts';

/** The header that names parameters which a list has ignored. */
export const unknownParametersHeader = 'X-Unknown-Parameters';

/** A header is short, whatever the query holds. */
const maxNamed = 10;
const maxCharacters = 64;

/** Whether answers of the operation name the parameters that they ignored: lists do. */
export function namesUnknownParameters({ query, success }: Pick<Operation, 'query' | 'success'>): boolean {
  return query !== undefined && 'list' in success;
}

/**
 * Makes the header of requests with parameters that the list does not know. Each is
 * percent-encoded, and followed by `;near=NAME` where a parameter has nearly the same name.
 */
export function unknownParameters(
  operation: Pick<Operation, 'query' | 'success'>,
): (event: APIGatewayProxyEvent) => Readonly<Record<string, string>> {
  if (!namesUnknownParameters(operation)) return () => ({});
  const known = Object.keys(parameterSchemas(operation.query));
  return ({ multiValueQueryStringParameters }) => {
    const unknown = Object.keys(multiValueQueryStringParameters ?? {}).filter((name) => !known.includes(name));
    if (unknown.length === 0) return {};
    const named = unknown.slice(0, maxNamed).map((name) => {
      const near = nearest(known, name);
      const shown = encodeURIComponent(name.slice(0, maxCharacters).toWellFormed());
      return near === undefined ? shown : `${shown};near=${near}`;
    });
    return { [unknownParametersHeader]: named.join(', ') };
  };
}

/**
 * The parameter with the same letters as the sent name, or whose letters begin it or are begun by
 * it: for `tags`, `deviceType`, `limit[]`. Of several the one of the nearest length.
 */
function nearest(known: readonly string[], sent: string): string | undefined {
  const lettersOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z]/g, '');
  const letters = lettersOf(sent);
  const isNear = (each: string) => each.startsWith(letters) || letters.startsWith(each);
  const difference = (name: string) => Math.abs(lettersOf(name).length - letters.length);
  if (letters.length < 2) return undefined;
  return known.filter((name) => isNear(lettersOf(name))).sort((a, b) => difference(a) - difference(b))[0];
}
