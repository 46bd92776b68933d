/** The part that every bundle with a database starts with. */

import { documentClient } from '../../functions/data/dynamodb/client.ts';

export const handler = documentClient();
