/** A time column as a Date. */
export function toDate(column: number): Date {
  return new Date(column);
}

/** A nullable time column as a Date. */
export function toDateOrNull(column: number | null): Date | null {
  return column === null ? null : new Date(column);
}

/** A Date as its column: epoch milliseconds. */
export function toColumn(date: Date | null): number | null {
  return date === null ? null : date.getTime();
}
