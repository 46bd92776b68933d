import { CfnSamplingRule } from 'aws-cdk-lib/aws-xray';
import type { Construct } from 'constructs';

/**
 * The share of the API's requests that X-Ray records. Without a rule of its own it would record the
 * first request of each second as well, so at usual rates nearly all: 5 $ a million. Functions of
 * routes follow the gateway. No other function is traced: Lambda takes no rule, and would record
 * the first call of each second (https://docs.aws.amazon.com/lambda/latest/dg/services-xray.html).
 */
export const tracedShare = 0.01;

/** The one rule: lets X-Ray record `tracedShare` of the requests of an API's stage. */
export function sampleRequests(scope: Construct, { apiName, stageName }: Record<'apiName' | 'stageName', string>) {
  new CfnSamplingRule(scope, 'Sampling', {
    samplingRule: {
      version: 1,
      ruleName: apiName,
      priority: 1_000,
      reservoirSize: 0,
      fixedRate: tracedShare,
      serviceType: 'AWS::ApiGateway::Stage',
      serviceName: `${apiName}/${stageName}`,
      host: '*',
      httpMethod: '*',
      urlPath: '*',
      resourceArn: '*',
    },
  });
}
