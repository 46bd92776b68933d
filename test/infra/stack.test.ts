import { describe, expect, it } from 'vitest';
import { synthesize } from '../support/synthesize.ts';

const { text } = await synthesize();

interface TemplateResource {
  readonly Type: string;
  readonly Properties?: unknown;
  readonly DependsOn?: readonly string[];
  readonly Metadata?: { readonly 'aws:cdk:path'?: string };
}

const resources = new Map(Object.entries<TemplateResource>(JSON.parse(text).Resources));

/** The path of a resource's construct, without the stack: `Storage/Batches/Resource`. */
function pathOf(id: string): string {
  return (resources.get(id)?.Metadata?.['aws:cdk:path'] ?? id).replace(/^[^/]+\//, '');
}

/** The logical ids that a value refers to. */
function referencesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, argument]) => {
    if (name === 'Ref') return [String(argument)];
    if (name === 'Fn::GetAtt') return [String(argument[0])];
    if (name === 'Fn::Sub') throw new Error('Read the references of Fn::Sub here, too.');
    return referencesOf(argument);
  });
}

describe('what holds data', () => {
  const isOfData = (path: string) => /^(Storage|Identity|Queues)\/|^WebhookKey\/Secret\//.test(path);
  const ofData = [...resources].filter(([id]) => isOfData(pathOf(id)));

  it('refers to nothing that serves it', () => {
    const references = ofData.flatMap(([id, { Properties, DependsOn = [] }]) =>
      [...referencesOf(Properties), ...DependsOn].map((target) => ({ from: pathOf(id), to: pathOf(target) })),
    );
    expect(references.length).toBeGreaterThan(10);
    expect(
      references.filter(({ to }) => !to.startsWith('AWS::') && !isOfData(to)),
      'Let what serves refer to what holds data, never the other way round.',
    ).toEqual([]);
  });

  it('keeps its logical ids: under another, CloudFormation would make an empty one', () => {
    const kept = [
      'AWS::DynamoDB::Table',
      'AWS::S3::Bucket',
      'AWS::Cognito::UserPool',
      'AWS::SecretsManager::Secret',
      'AWS::SQS::Queue',
    ];
    const ids = [...resources].filter(([, { Type }]) => kept.includes(Type)).map(([id]) => id);
    expect(ids.sort()).toEqual([
      'IdentityUserPool96FE3B9B',
      'QueuesEvents3B99B77C',
      'QueuesEventsDeadLetters49EFC383',
      'QueuesRecovery06EC432E',
      'QueuesRecoveryDeadLetters3F1F0F3D',
      'QueuesWaitingEventsCF052007',
      'QueuesWaitingEventsDeadLetters97C8B3F2',
      'QueuesWebhooks8AF7EEBD',
      'QueuesWebhooksDeadLettersFB5D2A3F',
      'StorageAudit9012A908',
      'StorageBatchesFF4B5F1F',
      'StorageCalibrations38A31FF2',
      'StorageColumns74080D45',
      'StorageContributors6DD96359',
      'StorageCounters147FAC27',
      'StorageDeviceQueue1FF99F87',
      'StorageDevices124B4481',
      'StorageJobs4C7573CB',
      'StorageLimits4233148F',
      'StorageQuizzes0103AA34',
      'StorageResultsAccessLogCC12AC58',
      'StorageResultsB2A4FB2E',
      'StorageSequences3C9FFA4E',
      'StorageUsage9ADDA69B',
      'StorageWebhookAttemptsBFC6FFFF',
      'WebhookKeySecret96F1C2EF',
    ]);
    for (const id of ids) expect(isOfData(pathOf(id)), id).toBe(true);
  });
});
