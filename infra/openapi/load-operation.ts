import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Operation } from '../../functions/http/operation.ts';
import { type RouteName, routes } from '../../functions/routes.ts';

/**
 * The operation beside the endpoint of a route. Throws when there is none, and names the file that
 * should hold it.
 */
export async function loadOperation(name: RouteName): Promise<Operation> {
  const file = `functions/${routes[name].entry}.operation.ts`;
  const path = join(import.meta.dirname, '../..', file);
  if (!existsSync(path)) throw new Error(`The route ${name} has no operation: ${file} does not exist.`);
  const { operation } = (await import(pathToFileURL(path).href)) as { operation?: Operation };
  if (operation === undefined) throw new Error(`${file} does not export \`operation\`.`);
  return operation;
}
