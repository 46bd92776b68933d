import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { StageSettings } from './stages.ts';

/**
 * A log that lives as long as the stage says. Functions of one kind share one: a query takes 50
 * logs at most, and each is a resource of the stack.
 */
export function createLog(scope: Construct, id: string, settings: StageSettings, props: LogGroupProps = {}): LogGroup {
  return new LogGroup(scope, id, {
    ...props,
    retention: settings.logRetention,
    removalPolicy: settings.removalPolicy,
  });
}
