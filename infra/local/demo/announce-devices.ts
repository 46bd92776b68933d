import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { owner } from '../iam/owner.ts';
import type { LocalStack } from '../local-stack.ts';
import specs from './device-specs.json' with { type: 'json' };

/**
 * Stores the devices of device-specs.json, each in place of what was stored before. Emulators are
 * public.
 */
export async function announceDevices(stack: LocalStack): Promise<void> {
  const table = stack.deployment.functions.map(({ environment }) => environment.DEVICES_TABLE).find(Boolean);
  const region = process.env.AWS_REGION ?? 'us-east-1';
  const plainClient = new DynamoDBClient({ endpoint: stack.dynamodbEndpoint, region, credentials: owner });
  const client = DynamoDBDocumentClient.from(plainClient);
  for (const [type, text] of Object.entries(specs)) {
    const row = {
      kind: 'device',
      device_type: type,
      name: JSON.parse(text).name,
      status: 'UP',
      availability: 'ACTIVE',
      specs: text,
      public: type.startsWith('EMU_'),
      announced_at: new Date().toISOString().replace('Z', '000Z'),
    };
    await client.send(new PutCommand({ TableName: table, Item: row }));
  }
  plainClient.destroy();
}
