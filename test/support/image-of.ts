import type { AttributeValue } from 'aws-lambda';

/** A row as a stream's record has it. Lists and objects, which no consumer reads, become texts. */
export function imageOf(row: Readonly<Record<string, unknown>>): Record<string, AttributeValue> {
  const image = Object.entries(row).map(([name, value]): [string, AttributeValue] => {
    if (value === null) return [name, { NULL: true }];
    if (typeof value === 'boolean') return [name, { BOOL: value }];
    return [name, typeof value === 'number' ? { N: String(value) } : { S: String(value) }];
  });
  return Object.fromEntries(image);
}
