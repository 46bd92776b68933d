/** A value that is read when it is first needed, and once. */
export interface LazyValue<Value> {
  /** Undefined until it was read. */
  value(): Value | undefined;
  read(): Promise<Value>;
}

/** A read that fails is made again when the value is needed again. */
export function lazyValue<Value>(read: () => Promise<Value>): LazyValue<Value> {
  let value: Value | undefined;
  return {
    value: () => value,
    async read() {
      value ??= await read();
      return value;
    },
  };
}
