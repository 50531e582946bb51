import { isApiError } from "#api/errors.ts";
import type { RefusalCode } from "#sources/contract.ts";

/** What a refusal of one thing says; undefined for every other failure. */
export function refusalOf(error: unknown): RefusalCode | undefined {
  return REFUSALS.find((code) => isApiError(error, code));
}

const REFUSALS = ["source_forbidden", "source_not_found", "source_gone"] as const;
