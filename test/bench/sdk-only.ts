/** What every bundle with a database in it begins with: initialisation of the others is measured against this one. */

import { documentClient } from '../../functions/data/dynamodb-client.ts';

export const handler = documentClient();
