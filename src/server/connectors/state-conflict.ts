import { ApiError } from "#api/errors.ts";
import type { ConnectorRecord, ConnectorState } from "#storage/records/connectors.ts";

/**
 * The error for an action that a connector's state doesn't allow, with the command that helps. `what`: "does not sync".
 */
export function stateConflict(
  { state, stateReason, name, connectorId }: Pick<ConnectorRecord, "state" | "stateReason" | "name" | "connectorId">,
  what: string,
): ApiError {
  // A shell would split this name, so it can't be in a command to paste.
  const word = /^[\w.-]+$/.test(name) ? name : connectorId;
  const why = state === "needs_owner" && stateReason !== null ? ` ${stateReason}` : "";
  return new ApiError("connector_state_conflict", {
    message: `The connector is "${state}" and ${what}.${why}`,
    hint: HINTS[state](word),
  });
}

const HINTS: Record<ConnectorState, (word: string) => string> = {
  pending_auth: () => "Connect its account first.",
  active: (word) => `See its last sync: kb connectors progress ${word}`,
  paused: (word) => `Resume it first: kb connectors resume ${word}`,
  needs_reauth: (word) => `Give it new credentials first: kb connectors update ${word} --credential KEY=@FILE`,
  needs_owner: (word) =>
    `An admin can take it over: kb connectors update ${word} --take-over, and with --credential KEY=@FILE if it needs credentials`,
  error: (word) => `See the reason: kb connectors show ${word}`,
  deleting: () => "It is being deleted. Create a new one.",
};
