/** `T` without the keys that are undefined: what may be undefined may be absent, and is nothing else. */
type Defined<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & { [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> };

/** A record without the keys whose value is undefined: `{ id, ...defined({ name }) }` has no `name` when nobody gave one. */
export function defined<T extends object>(record: T): Defined<T> {
  // Half the time of `Object.fromEntries`: lines of a push go through here.
  const kept: Partial<T> = {};
  // An object has the keys of its type; one more that its type does not tell is kept too.
  for (const key of Object.keys(record) as (keyof T)[]) if (record[key] !== undefined) kept[key] = record[key];
  // Every key whose value is undefined is gone, which is all that the type says beyond T.
  return kept as unknown as Defined<T>;
}
