/** What a snippet sends. */
export interface Request {
  /** In upper case. */
  readonly method: string;
  readonly address: string;
  readonly needsToken: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON value. */
  readonly body?: unknown;
}

export function curlSample(request: Request): string;
export function requestsSample(request: Request): string;
export function fetchSample(request: Request): string;

/** A JSON value in Python. Lines after the first start with `indentation`. */
export function pythonLiteral(value: unknown, indentation?: string): string;
