/**
 * Appends the items. `push(...items)` fails above some hundred thousand of them: each is an argument of the call, on
 * the stack.
 */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
