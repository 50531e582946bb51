/**
 * `T` without the keys that are undefined: a value that may be undefined becomes optional, and nothing else changes.
 */
type Defined<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & { [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> };

/**
 * A record without the keys whose value is undefined: `{ id, ...defined({ name }) }` has no `name` when it was
 * undefined.
 */
export function defined<T extends object>(record: T): Defined<T> {
  // Half the time of `Object.fromEntries`: lines of a push pass through here.
  const kept: Partial<T> = {};
  // An object has the keys of its type; an extra key that isn't in its type is kept too.
  for (const key of Object.keys(record) as (keyof T)[]) if (record[key] !== undefined) kept[key] = record[key];
  // Every key whose value is undefined is gone, which is all that the type states beyond T.
  return kept as unknown as Defined<T>;
}
