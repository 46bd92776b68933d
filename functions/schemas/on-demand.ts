/**
 * A schema that is made when it is first asked for: making schemas is most of what zod costs a cold
 * start. Functions answer without the schemas of answers, which only the OpenAPI document and tests
 * need. And a function may import schemas of rows that it never reads.
 */
export function onDemand<Schema>(make: () => Schema): () => Schema {
  let made: Schema | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
