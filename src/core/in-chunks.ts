/** The values in their order, at most `size` at once: parameters of a statement, rows of a batch of work. */
export function* inChunks<T>(values: readonly T[], size: number): Generator<T[], void> {
  for (let i = 0; i < values.length; i += size) yield values.slice(i, i + size);
}
