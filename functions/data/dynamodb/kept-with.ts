/**
 * What a process keeps for an object, such as a database, for as long as the object lives: made at
 * the first call for it.
 */
export function keptWith<Value>(make: () => Value): (owner: object) => Value {
  const kept = new WeakMap<object, Value>();
  return (owner) => {
    const value = kept.get(owner) ?? make();
    kept.set(owner, value);
    return value;
  };
}
