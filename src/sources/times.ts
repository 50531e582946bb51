import type { SourceResponse } from "./http-contract.ts";

/** Parses a time as epoch milliseconds; undefined if the text isn't a time. */
export function timeOf(text: string | null | undefined): number | undefined {
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) ? undefined : at;
}

/** Returns the server's clock at the time of the response, or our clock if the server doesn't report its time. */
export function clockOf({ headers }: Pick<SourceResponse, "headers">, now: () => number): number {
  return timeOf(headers.get("date")) ?? now();
}
