/**
 * The parameters of a query as API Gateway hands them on: decoded, in their order.
 * - A `;` separates parameters, as `&` does.
 * - A `%` that does not begin an escape arrives encoded (`%25`).
 * - Bytes that are not UTF-8 arrive as U+FFFD.
 */
export function readQuery(search: string): [name: string, value: string][] {
  return search
    .split(/[&;]/)
    .filter((parameter) => parameter !== '')
    .map((parameter) => {
      const equals = parameter.indexOf('=');
      const [name, value] = equals < 0 ? [parameter, ''] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
      return [decode(name), decode(value)];
    });
}

function decode(text: string): string {
  const escaped = text.replaceAll('+', ' ').replace(/%(?![0-9a-f]{2})/gi, '%2525');
  const bytes = escaped.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
