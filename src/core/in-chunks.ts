/** Yields the values in order, at most `size` at once, such as the parameters of a statement or the rows of a batch. */
export function* inChunks<T>(values: readonly T[], size: number): Generator<T[], void> {
  for (let i = 0; i < values.length; i += size) yield values.slice(i, i + size);
}
