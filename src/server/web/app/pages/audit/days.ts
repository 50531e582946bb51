/**
 * Returns the start of a day (`2026-11-21`) in the reader's time zone, in the form that the API expects; undefined for
 * no day.
 */
export function dayStart(day: string): string | undefined {
  return momentOf(day, 0);
}

/** Returns the start of the next day. */
export function dayEnd(day: string): string | undefined {
  return momentOf(day, 1);
}

function momentOf(day: string, daysLater: number): string | undefined {
  const [year, month, date] = day.split("-").map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  const moment = new Date(year, month - 1, date + daysLater);
  // While a person types a year, it is briefly 2, 20 and 202.
  return Number.isNaN(moment.getTime()) || year < 1000 ? undefined : moment.toISOString();
}
