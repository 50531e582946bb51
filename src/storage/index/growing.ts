/** A growable typed array: a list of numbers without boxing. */
export interface Growing<T extends Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array> {
  /** The array may be longer than `length`. */
  array: T;
  length: number;
}

/** Makes a growable array from the entries of an array up to `length`. */
export function growing<T extends Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array>(
  array: T,
  length = 0,
): Growing<T> {
  return { array, length };
}

/** Returns an array with room for `capacity` entries in all, with the old entries kept. */
export function grown<T extends Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array>(
  array: T,
  capacity: number,
): T {
  if (array.length >= capacity) return array;
  // The species constructor of a typed array is its own class.
  const Type = array.constructor as new (length: number) => T;
  const larger = new Type(Math.max(capacity, array.length * 2, 16));
  larger.set(array);
  return larger;
}

/** Appends a number. */
export function push<T extends Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array>(
  list: Growing<T>,
  value: number,
): void {
  if (list.length === list.array.length) list.array = grown(list.array, list.length + 1);
  list.array[list.length++] = value;
}
