import type { Context, DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { isUnavailable } from '../data/dynamodb/aws-errors.ts';
import { database } from '../data/dynamodb/db.ts';
import { sealSegments } from '../data/lists/seal-segments.ts';
import { otherFunctions } from '../other-functions.ts';
import { countInRequestLog } from '../runtime/request-log.ts';
import { consume, type Fault } from './consume.ts';

const db = database(otherFunctions.sealSegments);

/**
 * The pause for each sealed column: sealing takes at most 800 of a user's 1,000 write units a
 * second.
 */
const pauseMilliseconds = 60;

/**
 * Seals old segments of the lists that have grown. A record that DynamoDB could not serve comes
 * again. One that fails otherwise is logged and passed over: its segment is read block by block.
 */
export function handler({ Records }: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> {
  return consume(context, Records, sealFor, { parallel: 1 });
}

async function sealFor({ dynamodb }: DynamoDBRecord): Promise<Fault | undefined> {
  const { user_id, key } = dynamodb?.Keys ?? {};
  try {
    const sealed = await sealSegments(db, { userId: user_id?.S ?? '', key: key?.S ?? '' });
    countInRequestLog({ sealed_columns: sealed });
    await db.clock.sleep(sealed * pauseMilliseconds);
    return undefined;
  } catch (error) {
    return { error, disposition: isUnavailable(error) ? 'delivered again' : 'passed over', user_id: user_id?.S };
  }
}
