/** A check that the emulator of test/emulated/deployment cannot do. */
interface Beyond {
  readonly why: string;
  /** It takes too long to find out whether it can by now. */
  readonly untried?: true;
}

const noGzip = { why: 'its gateway neither reads nor writes gzip' };
const noLogs = { why: 'it neither filters nor measures logs as CloudWatch does', untried: true } as const;
const otherLogs = { why: 'it writes other lines into logs' };
const minutes = { why: 'it waits for minutes', untried: true } as const;

/** By `step: promise`. It may only shrink: test/infra/acceptance has its names. */
export const beyondEmulator: Readonly<Record<string, Beyond>> = {
  'before: CloudFormation reads the template': { why: 'it does not know all types of resources' },
  'smoke: a gzipped body of 10 characters is read': noGzip,
  'smoke: a gzipped body of 300,000 characters is read': noGzip,
  'smoke: what says gzip and is not is 422': noGzip,
  'smoke: answers are compressed for those who accept it, and only for them': noGzip,
  'smoke: a preflight of each path allows its methods and the token': { why: 'it answers preflights with 200' },
  'smoke: a request is in its function’s log, with its user and without its token': otherLogs,
  'smoke: a request is in the access log, with its user': noLogs,
  'smoke: the metric Throttled has values': noLogs,
  'smoke: the metric JwksAge has values': noLogs,
  'smoke: the metric ReadUnits-listBatches has values': noLogs,
  'smoke: the metric EventAge-Events has values': noLogs,
  'smoke: the metric UnclaimedDevices has values': noLogs,
  'smoke: every saved query runs': { why: 'it has no saved queries' },
  'smoke: an alarm reaches the topic': { why: 'it has no history of alarms', untried: true },
  'smoke: a link ends': minutes,
  'routes: eraseBatch': { why: 'it wants s3:DeleteObject for versions, where S3 wants s3:DeleteObjectVersion' },
  'permissions: roles allow what `uses` say, and nothing else': {
    why: 'its simulator decides about the first of several resources',
  },
  'read back: the API has kept its TLS policy and endpoint': { why: 'its APIs have neither' },
  'read back: TLS 1.1 is refused, TLS 1.2 is not': { why: 'it has no TLS' },
  'read back: functions on a queue’s circle are allowed it, all others are not': {
    why: 'it does not read RecursiveLoop of a template',
  },
  'read back: functions start in less than 2 s': otherLogs,
  'read back: alarms that ask for a quota of the account have values': { why: 'it has no metric math', untried: true },
  'many jobs: tables that were written to are hardly throttled': { why: 'it has no metrics of tables', untried: true },
  'rotation: the public key changes, and the former one is kept': {
    why: 'it never calls the function of a rotation',
    untried: true,
  },
  'remove: nothing of before can bring them back': minutes,
};
