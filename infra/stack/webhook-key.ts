import { Duration, Stack } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { CfnPermission } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnRotationSchedule, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { otherFunctions } from '../../functions/other-functions.ts';
import { createLog } from './logs.ts';
import { ServiceFunction, type UsableResources } from './service-function.ts';
import type { StageSettings } from './stages.ts';

/**
 * A receiver that knows a key can rely on it for so long at least: the key before signs as well
 * until the next rotation.
 */
const rotationInterval = Duration.days(365);

interface WebhookKeyProps {
  /** What the function uses besides the secret. */
  readonly resources: UsableResources;
  readonly settings: StageSettings;
}

/**
 * The secret that webhooks are signed with, and the function that makes its later versions and
 * publishes the public keys. A key follows from any random text, so the secret has one from its
 * creation on, and a change of the rotation schedule need not rotate it.
 */
export class WebhookKey extends Construct {
  readonly secret: Secret;
  readonly log: LogGroup;
  readonly rotation: ServiceFunction;
  readonly resources: UsableResources;

  constructor(scope: Construct, id: string, { resources, settings }: WebhookKeyProps) {
    super(scope, id);
    this.secret = new Secret(this, 'Secret', {
      description: 'The ed25519 key that webhooks are signed with.',
      // Must not be altered: CloudFormation would make another text, and so another key.
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: settings.removalPolicy,
    });
    const { secretArn } = this.secret;
    this.resources = {
      WebhookKey: { service: 'secretsmanager', arn: secretArn, environment: { WEBHOOK_KEY_ARN: secretArn } },
    };
    this.log = createLog(this, 'Log', settings);
    this.rotation = new ServiceFunction(this, 'RotateWebhookKey', {
      function: otherFunctions.rotateWebhookKey,
      resources: { ...resources, ...this.resources },
      log: this.log,
    });
    // By `grantInvoke` with a condition, its logical id would change with anything else.
    const invocation = new CfnPermission(this, 'Invocation', {
      action: 'lambda:InvokeFunction',
      functionName: this.rotation.functionArn,
      principal: 'secretsmanager.amazonaws.com',
      sourceAccount: Stack.of(this).account,
    });
    const schedule = new CfnRotationSchedule(this, 'Rotation', {
      secretId: secretArn,
      rotationLambdaArn: this.rotation.functionArn,
      rotationRules: { automaticallyAfterDays: rotationInterval.toDays() },
      rotateImmediatelyOnUpdate: false,
    });
    schedule.addResourceDependency(invocation);
    // Secrets Manager tests the schedule: that needs its rights.
    schedule.node.addDependency(this.rotation.role!);
    new Rule(this, 'EveryMinute', {
      schedule: Schedule.rate(Duration.minutes(1)),
      // The next minute publishes again.
      targets: [new LambdaFunction(this.rotation, { retryAttempts: 0 })],
    });
  }
}
