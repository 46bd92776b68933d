import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { InputFault } from '../errors.ts';
import { CreationQuery, type Validation } from '../schemas/validation.ts';
import { type Reply, success } from './reply.ts';

/**
 * Answers a call whose body breaks its schema with its faults, if it asks for nothing else. A call
 * without a body asks for nothing.
 */
export function answerFaultsOnly(validate: (userId: string, faults: readonly InputFault[]) => Promise<Validation>) {
  return async (
    { userId }: { readonly userId: string },
    faults: readonly InputFault[],
    { multiValueQueryStringParameters }: APIGatewayProxyEvent,
  ): Promise<Reply | undefined> => {
    const query = CreationQuery.safeParse(multiValueQueryStringParameters ?? {});
    const isOfBody = faults.every(
      ({ loc: [root, ...rest], type }) => root === 'body' && !(rest.length === 0 && type === 'missing'),
    );
    return query.data?.validate_only && isOfBody ? success(await validate(userId, faults)) : undefined;
  };
}
