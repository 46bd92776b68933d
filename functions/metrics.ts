/**
 * The service's own metrics, names and units only: functions write them to their log in CloudWatch's embedded metric format,
 * the stack draws and watches them. Each has one dimension, the function it comes from, whose value is in the
 * environment variable AWS_LAMBDA_FUNCTION_NAME. A log line must reach standard output as it is: `console` wraps what it is given.
 */

export const metricNamespace = 'QuantumBatchApi';

export const metricDimension = 'FunctionName';

/** Units as CloudWatch names them. */
export const metrics = {
  /** From the start of the handler to its answer. */
  Latency: 'Milliseconds',
  /** Answers with a 4xx, a 5xx status. */
  ClientErrors: 'Count',
  ServerErrors: 'Count',
  /** Requests answered 429 because DynamoDB throttled. */
  Throttles: 'Count',
  /** Read capacity units that one request consumed. */
  ReadUnits: 'Count',
  /** Since the oldest event of a delivery was sent, at the time of the delivery. */
  EventAge: 'Seconds',
  /** Since the issuer's keys were last fetched, at the time of a request. */
  JwksAge: 'Seconds',
} as const;

export type MetricName = keyof typeof metrics;
