/**
 * Bounds of time that rest on each other, in seconds: data only. test/unit/time-limits.test.ts says
 * how, and why.
 */

export const timeLimits = {
  /** API Gateway waits so long for a function. */
  gateway: 29,
  /** A function has so long, unless its description says otherwise. */
  function: 15,
  /** A function that writes much in one call. */
  longFunction: 28,
  /** `recoverBatches`: 20,000 jobs take a minute at the pace of a call. */
  recoveryFunction: 120,
  /** `sealSegments`. */
  sealingFunction: 60,
  /** `deliverWebhooks`: one call of a receiver takes up to 15 s. */
  deliveryFunction: 20,
  receiverCall: 15,
  /** Left of a function's time when its request is given up, for answering 504. */
  toAnswer: 0.5,
  /** Left of `deliverWebhooks` and of a test of a webhook, to store what came of the call. */
  toStoreDelivery: 3,
  /** Left of a call that applies events, to hand back what it did not get to. */
  toHandBackEvents: 1.5,
  /**
   * The transactions of one call. After `forAll`, a call goes on only if it will have ended at
   * `most`; after `most` nothing is tried again.
   */
  pace: { forAll: 20, most: 26 },
  recoveryPace: { forAll: 90, most: 105 },
  /** No further part of an erasure is begun when less is left of its pace. */
  erasurePart: 6,
  /** A creation waits so long for other creations of its user, then goes on without the lock. */
  writerLock: 14,
  /** A lock ends so long after its holder has died. */
  heldLock: 2,
  /** A long call of a user has its place among them so long, if it dies. */
  heldPlace: 32,
  /** A claim stops looking for work. */
  claimSearch: 8,
  /** A lease lives so long after the last heartbeat. */
  lease: 60,
  /** What a call leaves half-done is completed after so long. */
  recoveryDelay: 600,
  /** A link for an upload is valid so long. */
  uploadLink: 300,
  /** SQS delays a message for so long at most. */
  messageDelay: 900,
} as const;
