/**
 * The function threw, ran out of time or memory, did not load, or its event or response broke
 * Lambda's limits.
 */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
  readonly errorType: string;

  constructor(errorType: string, message: string) {
    super(message);
    this.errorType = errorType;
  }
}
