/** The SDK's document client as it comes. The bundles' initialisation is compared with this one. */

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

export const handler = DynamoDBDocumentClient.from(new DynamoDBClient());
