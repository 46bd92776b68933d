import { createHash } from 'node:crypto';
import type * as z from 'zod/mini';
import { formatUuid } from '../../functions/values/uuid.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * A value that the schema describes: the first of a schema's examples where it has some. `$defs`
 * holds the named schemas.
 */
export function exampleOf(schema: JsonSchema): unknown {
  return makeValue(schema, '', schema.$defs ?? {});
}

function makeValue(schema: JsonSchema, name: string, named: Readonly<Record<string, JsonSchema>>): unknown {
  if (schema.$ref !== undefined) return makeValue(named[schema.$ref.replace('#/$defs/', '')]!, name, named);
  // Ids that differ, so that no reader takes the parent for the batch itself.
  if (schema.format === 'uuid') return formatUuid(createHash('sha256').update(name).digest('hex').slice(0, 32));
  if (schema.examples !== undefined) return (schema.examples as unknown[])[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const alternatives = schema.anyOf as JsonSchema[] | undefined;
  if (alternatives !== undefined) {
    const isNullable = alternatives.some(({ type }) => type === 'null');
    const shown = alternatives.find(({ examples, format }) => examples !== undefined && format === 'uri');
    // An answer's own `data` is shown as it is where there is something.
    return isNullable && shown === undefined && name !== 'data'
      ? null
      : makeValue(shown ?? alternatives[0]!, name, named);
  }
  switch (Array.isArray(schema.type) ? schema.type.at(-1) : schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([member]) => schema.required?.includes(member))
          .map(([member, value]) => [member, makeValue(value as JsonSchema, member, named)]),
      );
    case 'array':
      return [makeValue(schema.items as JsonSchema, name, named)];
    case 'integer':
      return schema.minimum ?? 0;
    case 'number':
      return 1.5;
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return name;
  }
}
