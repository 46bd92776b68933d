import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { otherFunctions } from '../../functions/other-functions.ts';
import { createLog } from './logs.ts';
import { ServiceFunction, type UsableResources } from './service-function.ts';
import type { StageSettings } from './stages.ts';

interface SchedulesProps {
  readonly resources: UsableResources;
  readonly settings: StageSettings;
}

/** Several measurements in each period of a metric: an alarm can ask that they agree. */
const measurementInterval = Duration.minutes(1);

/** The functions that the clock calls. */
export class Schedules extends Construct {
  readonly log: LogGroup;
  readonly functions: Readonly<Record<'measureQueues', ServiceFunction>>;

  constructor(scope: Construct, id: string, { resources, settings }: SchedulesProps) {
    super(scope, id);
    this.log = createLog(this, 'Log', settings);
    const measureQueues = new ServiceFunction(this, 'MeasureQueues', {
      function: otherFunctions.measureQueues,
      resources,
      log: this.log,
    });
    new Rule(this, 'EveryMinute', {
      schedule: Schedule.rate(measurementInterval),
      // The next minute measures again.
      targets: [new LambdaFunction(measureQueues, { retryAttempts: 0 })],
    });
    this.functions = { measureQueues };
  }
}
