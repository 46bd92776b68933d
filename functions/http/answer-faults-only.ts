import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { InputFault } from '../errors.ts';
import { CreationQuery, type Validation } from '../schemas/validation.ts';
import { type Reply, success } from './reply.ts';

/** Answers a call whose body breaks its schema with its faults, if it asks for nothing else. */
export function answerFaultsOnly(validate: (userId: string, faults: readonly InputFault[]) => Promise<Validation>) {
  return async (
    { userId }: { readonly userId: string },
    faults: readonly InputFault[],
    { multiValueQueryStringParameters }: APIGatewayProxyEvent,
  ): Promise<Reply | undefined> => {
    const query = CreationQuery.safeParse(multiValueQueryStringParameters ?? {});
    const isOfBody = faults.every(({ loc }) => loc[0] === 'body');
    return query.data?.validate_only && isOfBody ? success(await validate(userId, faults)) : undefined;
  };
}
