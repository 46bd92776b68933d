import { decodeComponent } from '../service/http-server.ts';
import type { ResourceDefinition } from '../template/api-definition.ts';

/**
 * The resource of a path. Literal segments win over parameters, and parameters over `{rest+}`. A
 * trailing slash is ignored.
 */
export function findResource(
  resources: readonly ResourceDefinition[],
  path: string,
): { resource: ResourceDefinition; parameters: Record<string, string> } | undefined {
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  const given = trimmed === '/' ? [] : trimmed.slice(1).split('/');
  const matches = resources.filter(
    ({ segments, methods }) =>
      Object.keys(methods).length > 0 &&
      (segments.at(-1)?.endsWith('+}') ? given.length >= segments.length : given.length === segments.length) &&
      segments.every((segment, index) =>
        segment.startsWith('{') ? given[index] !== '' : segment === decodeComponent(given[index]!),
      ),
  );
  const rank = ({ segments }: ResourceDefinition) =>
    segments.map((segment) => (segment.endsWith('+}') ? '2' : segment.startsWith('{') ? '1' : '0')).join('');
  const [resource] = matches.sort((left, right) => (rank(left) < rank(right) ? -1 : 1));
  if (resource === undefined) return undefined;
  const parameters = resource.segments.flatMap((segment, index) => {
    const name = /^\{(.+?)\+?\}$/.exec(segment)?.[1];
    if (name === undefined) return [];
    const value = segment.endsWith('+}') ? given.slice(index).join('/') : given[index]!;
    return [[name, decodeComponent(value)] as const];
  });
  return { resource, parameters: Object.fromEntries(parameters) };
}
