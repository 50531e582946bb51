import { notFound, unavailable } from "#sources/errors.ts";
import { ApiError } from "#api/errors.ts";
import type { Visited } from "./visit.ts";

/** The number of failed pages in a row from which the server counts as failing. */
const MAX_FAILURES_IN_A_ROW = 20;
/** The number of broken connections in a row from which the server counts as failing. */
const MAX_BROKEN_IN_A_ROW = 3;

/** Checks whether a failure concerns only this page. @throws ApiError if the whole site fails */
export function requireWell(outcome: Visited, cursor: { failuresInARow: number }, isStart: boolean): void {
  const error = outcome.type === "failed" || outcome.type === "refused" ? outcome.error : undefined;
  if (isStart) requireStart(outcome);
  if (error === undefined) {
    cursor.failuresInARow = 0;
    return;
  }
  const most = error.details?.["status"] === undefined ? MAX_BROKEN_IN_A_ROW : MAX_FAILURES_IN_A_ROW;
  if (++cursor.failuresInARow >= most) throw siteFailure(error);
}

/**
 * Checks the first page.
 * @throws ApiError for a first page without a link to any other page, so that no page is treated as deleted
 */
function requireStart(outcome: Visited): void {
  const { type, at } = outcome;
  if (type === "gone") {
    throw notFound(`${at.host} has no page at ${at.pathname}.`, 404);
  }
  if (type === "refused") throw siteFailure(outcome.error);
  const isDeadEnd = type === "failed" || type === "away" || (type === "left_out" && outcome.links === undefined);
  if (!isDeadEnd) return;
  const cause = type === "failed" ? outcome.error : undefined;
  throw cause ?? unavailable(`kb can't read ${at.href}. ${outcome.message}`);
}

function siteFailure(error: ApiError): ApiError {
  if (error.details?.["status"] !== 401) return error;
  const message = "The site doesn't accept the credentials any more (HTTP 401).";
  return new ApiError("source_unauthorized", { message, field: "credentials", details: { status: 401 } });
}
