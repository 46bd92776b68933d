/** What a write is conditional on, when it was decided from what was read. */

/** That there is no item with the key; `attribute` is of the table's key. */
export function ifAbsent(attribute: string) {
  return { ConditionExpression: 'attribute_not_exists(#key)', ExpressionAttributeNames: { '#key': attribute } };
}

/** That these attributes are as in the item, which has them, or has them not. */
export function ifUnchanged(item: object, names: readonly string[]) {
  const values = Object.entries(item).filter(([name, value]) => names.includes(name) && value !== undefined);
  const present = new Set(values.map(([name]) => name));
  const conditions = names.map((name) =>
    present.has(name) ? `#${name} = :old_${name}` : `attribute_not_exists(#${name})`,
  );
  return {
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    // DynamoDB refuses a list of values that is empty.
    ...(values.length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(values.map(([name, value]) => [`:old_${name}`, value])),
    }),
  };
}
