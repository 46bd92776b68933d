import { Duration, Stack } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnRotationSchedule, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { otherFunctions } from '../functions/routes.ts';
import { ServiceFunction, type UsableResources } from './service-function.ts';
import type { StageSettings } from './stages.ts';

/**
 * A receiver that knows a key can rely on it for so long at least: the key before signs as well
 * until the next rotation.
 */
const rotationInterval = Duration.days(365);

/**
 * The secret that webhooks are signed with, and the function that makes its versions. Secrets
 * Manager rotates it for the first time when it is deployed: until then it holds a text that is no
 * key.
 */
export class WebhookKey extends Construct {
  readonly secret: Secret;
  readonly rotation: ServiceFunction;
  readonly resources: UsableResources;

  constructor(scope: Construct, id: string, settings: StageSettings) {
    super(scope, id);
    this.secret = new Secret(this, 'Secret', {
      description: 'The ed25519 key that webhooks are signed with.',
      removalPolicy: settings.removalPolicy,
    });
    const { secretArn } = this.secret;
    this.resources = {
      WebhookKey: { service: 'secretsmanager', arn: secretArn, environment: { WEBHOOK_KEY_ARN: secretArn } },
    };
    this.rotation = new ServiceFunction(this, 'RotateWebhookKey', {
      function: otherFunctions.rotateWebhookKey,
      resources: this.resources,
      settings,
    });
    const invocation = this.rotation.grantInvoke(
      new ServicePrincipal('secretsmanager.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    const schedule = new CfnRotationSchedule(this, 'Rotation', {
      secretId: secretArn,
      rotationLambdaArn: this.rotation.functionArn,
      rotationRules: { automaticallyAfterDays: rotationInterval.toDays() },
      rotateImmediatelyOnUpdate: true,
    });
    invocation.applyBefore(schedule);
    // Its rights are needed at the first rotation.
    schedule.node.addDependency(this.rotation.role!);
  }
}
