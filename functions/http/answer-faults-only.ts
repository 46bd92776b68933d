import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { InputFault } from '../errors.ts';
import { CreationQuery, type Validation } from '../schemas/validation.ts';
import { type Reply, success } from './reply.ts';

/**
 * If a call asks only for the faults of its body, and the body breaks its schema, answers with
 * them. A call without a body asks for nothing.
 */
export function answerFaultsOnly<Database>(
  validate: (db: Database, userId: string, faults: readonly InputFault[]) => Promise<Validation>,
) {
  return async (
    { db, userId }: { readonly db: Database; readonly userId: string },
    faults: readonly InputFault[],
    { multiValueQueryStringParameters }: APIGatewayProxyEvent,
  ): Promise<Reply | undefined> => {
    const query = CreationQuery.safeParse(multiValueQueryStringParameters ?? {});
    const isOfBody = faults.every(
      ({ loc: [root, ...rest], type }) => root === 'body' && !(rest.length === 0 && type === 'missing'),
    );
    return query.data?.validate_only && isOfBody ? success(await validate(db, userId, faults)) : undefined;
  };
}
