/**
 * The fields that a Logs Insights query reads: names that are neither its commands and functions
 * nor aliases of its own.
 */
export function queryFields(text: string): string[] {
  const aliases = Array.from(text.matchAll(/\bas (\w+)/g), ([, alias]) => alias);
  const bare = text.replaceAll(/"[^"]*"|\/[^/]*\//g, '');
  const names = Array.from(bare.matchAll(/@?[\w.]+/g), ([name]) => name);
  return names.filter((name) => !words.test(name) && !aliases.includes(name) && !name.startsWith('@'));
}

const words =
  /^(filter|stats|fields|sort|limit|by|as|asc|desc|and|or|like|count|max|min|sum|pct|latest|bin|ispresent|\d\w*)$/;
