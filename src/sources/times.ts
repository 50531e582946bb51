import type { SourceResponse } from "./http-contract.ts";

/** Epoch milliseconds; undefined for what isn't a time. */
export function timeOf(text: string | null | undefined): number | undefined {
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) ? undefined : at;
}

/** The server's clock when it answered; ours if it doesn't report one. */
export function clockOf({ headers }: Pick<SourceResponse, "headers">, now: () => number): number {
  return timeOf(headers.get("date")) ?? now();
}
