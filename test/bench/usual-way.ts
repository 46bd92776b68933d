import { type DynamoDBDocumentClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { type Filter, filtersOf } from './filter-forms.ts';
import type { ListName, ListQuery } from './list-cases.ts';

type Item = Record<string, unknown>;

/** Rows in 1 MB. DynamoDB ends a page there, also with a filter; DynamoDB Local would go on. */
const rowsPerPage = Math.floor(2 ** 20 / 800);

/**
 * How lists with totals are usually read from DynamoDB. The index in creation order (or that of a
 * batch's jobs) is walked with Select=COUNT. That gives the total and the page in which the offset
 * lies. From there rows are read until the page is full. For another order all rows are read and
 * sorted in memory.
 */
export async function usualWay(
  client: DynamoDBDocumentClient,
  table: string,
  userId: string,
  list: ListName,
  query: ListQuery,
): Promise<{ total: number; items: Item[] }> {
  const filters = filtersOf(list, query);
  const batch = filters.find(({ attribute }) => attribute === 'batch_id');
  const rest = filters.filter((filter) => filter !== batch);
  const byCreation = query.order_by === 'created_at' || query.order_by === 'creation_order';
  const input: QueryCommandInput = {
    TableName: table,
    IndexName: batch === undefined ? 'by_creation' : 'by_batch',
    ScanIndexForward: query.order_by_direction === 'ASC',
    ...expressions(userId, batch, rest),
  };
  if (!byCreation) {
    const items = await rowsFrom(client, input, undefined, Infinity);
    return { total: items.length, items };
  }
  const { offset, limit } = query;
  let total = 0;
  let key: Item | undefined;
  let start: { key: Item | undefined; skip: number } | undefined;
  do {
    const page = await client.send(
      new QueryCommand({ ...input, Select: 'COUNT', Limit: rowsPerPage, ...(key && { ExclusiveStartKey: key }) }),
    );
    const count = page.Count ?? 0;
    if (start === undefined && total + count > offset) start = { key, skip: offset - total };
    total += count;
    key = page.LastEvaluatedKey;
  } while (key !== undefined);
  if (start === undefined) return { total, items: [] };
  const wanted = start.skip + limit;
  const items = await rowsFrom(client, input, start.key, wanted, rest.length === 0 ? wanted : rowsPerPage);
  return { total, items: items.slice(start.skip, wanted) };
}

async function rowsFrom(
  client: DynamoDBDocumentClient,
  input: QueryCommandInput,
  start: Item | undefined,
  most: number,
  pageRows = rowsPerPage,
): Promise<Item[]> {
  const items: Item[] = [];
  let key = start;
  do {
    const page = await client.send(
      new QueryCommand({ ...input, Limit: Math.min(pageRows, rowsPerPage), ...(key && { ExclusiveStartKey: key }) }),
    );
    items.push(...(page.Items ?? []));
    key = page.LastEvaluatedKey;
  } while (key !== undefined && items.length < most);
  return items;
}

function expressions(userId: string, batch: Filter | undefined, filters: readonly Filter[]) {
  const names: Record<string, string> = { '#user': 'user_id' };
  const values: Item = { ':user': userId };
  const keys = ['#user = :user'];
  if (batch !== undefined) {
    names['#batch'] = batch.attribute;
    values[':batch'] = [batch.value].flat()[0];
    keys.push('#batch = :batch');
  }
  const conditions = filters.map(({ attribute, operator, value }, place) => {
    const name = `#f${place}`;
    names[name] = attribute;
    const operands = [value].flat().map((operand, index) => {
      const placeholder = `:f${place}v${index}`;
      values[placeholder] = operator === 'not empty' ? 'L' : operand;
      return placeholder;
    });
    if (operator === 'in') return `${name} IN (${operands.join(', ')})`;
    if (operator === 'contains') return `contains(${name}, ${operands[0]})`;
    if (operator === 'not empty') return `attribute_type(${name}, ${operands[0]})`;
    if (operator === 'starts with') return `begins_with(${name}, ${operands[0]})`;
    return `${name} ${operator} ${operands[0]}`;
  });
  return {
    KeyConditionExpression: keys.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
    ...(conditions.length > 0 && { FilterExpression: conditions.join(' AND ') }),
  };
}
