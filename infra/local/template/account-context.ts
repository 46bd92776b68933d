/**
 * The account that the stack pretends to live in. ARNs and URLs of its resources are made of this.
 */
export interface AccountContext {
  readonly accountId: string;
  readonly region: string;
  readonly stackName: string;
  /** The address of the local SQS endpoint, without a trailing slash: queue URLs begin with it. */
  readonly queueEndpoint: string;
}
