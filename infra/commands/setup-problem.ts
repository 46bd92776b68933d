/**
 * Something a person must put right before the program can run. Its message is printed as it is,
 * without a stack trace.
 */
export class SetupProblem extends Error {
  override readonly name = 'SetupProblem';
}
