/**
 * Appends the items. `push(...items)` fails above some hundred thousand items, because each one is an argument on the
 * call stack.
 */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
