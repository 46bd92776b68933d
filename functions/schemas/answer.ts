/**
 * The schema of an answer, made when it is first asked for. Functions answer without it: only the
 * OpenAPI document and tests need it, and making schemas is most of what zod costs a cold start.
 */
export function answer<Schema>(make: () => Schema): () => Schema {
  let made: Schema | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
