type Functions = Readonly<Record<string, { readonly uses: Readonly<Record<string, readonly string[]>> }>>;
type Queues = Readonly<Record<string, { readonly consumer: { readonly function: string } }>>;

/**
 * The functions to which what they send to queues can come back, directly or over other functions.
 * Lambda ends such a chain after 16 calls, unless the function allows it
 * (https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html). The streams of tables
 * carry nothing that Lambda could count by.
 */
export function recursiveFunctions(functions: Functions, queues: Queues): ReadonlySet<string> {
  const consumersOf = (name: string) =>
    Object.entries(queues).flatMap(([queue, { consumer }]) =>
      functions[name]!.uses[queue]?.length ? [consumer.function] : [],
    );
  const reachableFrom = (name: string) => {
    const reached = new Set(consumersOf(name));
    // A set goes on with what is added meanwhile.
    for (const each of reached) for (const next of consumersOf(each)) reached.add(next);
    return reached;
  };
  return new Set(Object.keys(functions).filter((name) => reachableFrom(name).has(name)));
}
