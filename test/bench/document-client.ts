/** What every bundle with a database in it begins with. */

import { documentClient } from '../../functions/data/dynamodb/client.ts';

export const handler = documentClient();
