interface Template {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: Properties }>>;
}

interface Properties {
  readonly ReservedConcurrentExecutions?: number;
  readonly ScalingConfig?: { readonly MaximumConcurrency?: number };
}

/**
 * What the functions of a template may take of the account's concurrency: for queues at most, and
 * reserved. Each shard of a stream takes one more; a new table has about four.
 */
export function stackConcurrency({ Resources }: Template) {
  const ofType = (type: string) =>
    Object.values(Resources).flatMap(({ Type, Properties = {} }) => (Type === type ? [Properties] : []));
  const sum = (values: readonly (number | undefined)[]) => values.reduce((total: number, each = 0) => total + each, 0);
  const mappings = ofType('AWS::Lambda::EventSourceMapping').map(({ ScalingConfig }) => ScalingConfig);
  return {
    queues: sum(mappings.map((scaling) => scaling?.MaximumConcurrency)),
    streams: mappings.filter((scaling) => scaling === undefined).length,
    reserved: sum(ofType('AWS::Lambda::Function').map((properties) => properties.ReservedConcurrentExecutions)),
  };
}
