import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Api } from './api.ts';
import { createBudget } from './budget.ts';
import { Consumers } from './consumers.ts';
import type { CustomDomain } from './custom-domain.ts';
import { Identity, type PoolProject, type TokenIssuer } from './identity.ts';
import { Monitoring } from './monitoring.ts';
import { Producers } from './producers.ts';
import { Queues } from './queues.ts';
import { Schedules } from './schedules.ts';
import { capitalize } from './service-function.ts';
import type { StageSettings } from './stages.ts';
import { Storage } from './storage.ts';
import { WebhookKey } from './webhook-key.ts';

interface ServiceStackProps extends StackProps {
  readonly settings: StageSettings;
  /** Replaces the stack's own user pool. */
  readonly tokenIssuer?: TokenIssuer | undefined;
  /** The console's client at that issuer. */
  readonly consoleClientId?: string | undefined;
  /** Where people open the console: the stack's own user pool gets a client for it. */
  readonly consoleUrl?: string | undefined;
  /**
   * The types of devices, or `*` (the default) for any, whose machines get clients in the stack's
   * own user pool.
   */
  readonly devices?: readonly string[] | undefined;
  /** Projects whose roles are groups of the stack's own user pool. */
  readonly projects?: readonly PoolProject[] | undefined;
  readonly domain?: CustomDomain | undefined;
  readonly webAcl?: string | undefined;
  readonly alarmEmail?: string | undefined;
  /** In dollars: an alarm for what the whole account costs. */
  readonly monthlyBudget?: number | undefined;
  /** Names the restored tables that replace the stack's own. */
  readonly restoredTables?: string | undefined;
}

export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props: ServiceStackProps) {
    const { settings, devices = ['*'], projects = [], domain, webAcl } = props;
    super(scope, id, { ...props, terminationProtection: settings.deletionProtection });
    const storage = new Storage(this, 'Storage', settings, props.restoredTables);
    const identity =
      props.tokenIssuer === undefined
        ? new Identity(this, 'Identity', { settings, devices, projects, consoleUrl: props.consoleUrl })
        : undefined;
    const tokenIssuer = props.tokenIssuer ?? identity!.tokenIssuer;
    const queues = new Queues(this, 'Queues');
    const webhookKey = new WebhookKey(this, 'WebhookKey', { settings, resources: storage.resources });
    const resources = { ...storage.resources, ...queues.resources, ...webhookKey.resources };
    const { consoleClientId: clientId } = props;
    const consoleSignIn = identity?.console ?? (clientId === undefined ? undefined : { clientId });
    const api = new Api(this, 'Api', { settings, resources, tokenIssuer, consoleSignIn, domain, webAcl });
    const consumers = new Consumers(this, 'Consumers', { storage, queues, settings, resources });
    const schedules = new Schedules(this, 'Schedules', { settings, resources });
    const producers = new Producers(this, 'Producers', { queues, storage });
    const monitoring = new Monitoring(this, 'Monitoring', {
      settings,
      storage,
      api,
      queues,
      consumers,
      schedules,
      webhookKey,
      ...(props.alarmEmail !== undefined && { alarmEmail: props.alarmEmail }),
    });
    if (props.monthlyBudget !== undefined) createBudget(this, props.monthlyBudget, monitoring.topic);

    const outputs = {
      ApiUrl: api.url,
      ...(api.domainTarget !== undefined && { DomainTarget: api.domainTarget }),
      ...Object.fromEntries(Object.entries(storage.tables).map(([name, table]) => [`${name}Table`, table.tableName])),
      ResultsBucket: storage.results.bucketName,
      ...Object.fromEntries(
        Object.entries(queues.queues).flatMap(([name, { queue, deadLetters }]) => [
          [`${name}QueueUrl`, queue.queueUrl],
          [`${name}DeadLettersUrl`, deadLetters.queueUrl],
        ]),
      ),
      SendEventsPolicy: producers.sendEvents.managedPolicyArn,
      UploadResultsPolicy: producers.uploadResults.managedPolicyArn,
      ...Object.fromEntries(
        Object.entries(monitoring.logs).map(([name, { logGroupName }]) => [`${capitalize(name)}Log`, logGroupName]),
      ),
      AlarmTopic: monitoring.topic.topicArn,
      WebhookKeyArn: webhookKey.secret.secretArn,
      ...(identity !== undefined && outputsOf(identity)),
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

function outputsOf({ userPool, client, machines, tokenEndpoint }: Identity): Record<string, string> {
  return {
    UserPoolId: userPool.userPoolId,
    UserPoolClientId: client.userPoolClientId,
    ...Object.fromEntries(
      Object.entries(machines).map(([device, { userPoolClientId }]) => [
        `MachineClientId${device.replace(/[^A-Za-z0-9]/g, '')}`,
        userPoolClientId,
      ]),
    ),
    ...(tokenEndpoint !== undefined && { TokenEndpoint: tokenEndpoint }),
  };
}
