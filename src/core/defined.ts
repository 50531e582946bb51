/**
 * `T` without the keys whose value is undefined. A key whose value may be undefined becomes optional; nothing else
 * changes.
 */
type Defined<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & { [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> };

/**
 * Returns the record without the keys whose value is undefined: `{ id, ...defined({ name }) }` has no `name` when
 * `name` is undefined.
 */
export function defined<T extends object>(record: T): Defined<T> {
  // Takes half the time of `Object.fromEntries`. Every line of a push passes through here.
  const kept: Partial<T> = {};
  // An object has the keys of its type. A key that isn't in its type is kept too.
  for (const key of Object.keys(record) as (keyof T)[]) if (record[key] !== undefined) kept[key] = record[key];
  // The loop dropped every key whose value is undefined, which is all that the type states beyond T.
  return kept as unknown as Defined<T>;
}
