import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type Db, database, type TablesOf } from '../data/dynamodb/db.ts';
import type { InputFault } from '../errors.ts';
import type { Route } from '../routes.ts';
import type { Handler } from './http-function.ts';
import type { Operation } from './operation.ts';
import { type Caller, type EndpointRequest, plainEndpoint } from './plain-endpoint.ts';
import type { Reply } from './reply.ts';

/** The database of the route: the tables of its `uses`, and no others. */
interface WithDb<Served extends Route> {
  readonly db: Db<TablesOf<Served>>;
}

/**
 * As plainEndpoint, for a route that uses tables: `answer` gets the database of exactly these
 * tables. A function of `data/` that needs another table does not compile here.
 */
export function endpoint<Served extends Route, Described extends Operation>(
  route: Served,
  operation: Described,
  answer: (request: EndpointRequest<Served, Described> & WithDb<Served>) => Promise<Reply> | Reply,
  answerFaults?: (
    caller: Caller & WithDb<Served>,
    faults: readonly InputFault[],
    event: APIGatewayProxyEvent,
  ) => Promise<Reply | undefined>,
): Handler {
  const db = database(route);
  return plainEndpoint(
    route,
    operation,
    (request) => answer({ ...request, db }),
    answerFaults && ((caller, faults, event) => answerFaults({ ...caller, db }, faults, event)),
  );
}
