/** Reasons why a person returned from a provider without an account, by the code in the address. */
const FAILURES: Readonly<Record<string, string>> = {
  denied: "Nothing was connected: you or the service refused.",
  expired: "Connecting took too long, or you started it in another browser or session. Try again.",
  failed: "The service's answer wasn't valid. Try again.",
  unavailable: "The service isn't responding, or doesn't accept this server. Try again later, or ask the operator.",
  taken: "Someone else in this workspace already has this account. Ask an admin who it's linked to.",
  other_account: "That was a different account. Sign in at the service with the account you want to connect again.",
};

/**
 * Returns the notice for a person who returns from a provider; undefined for a person who just opened the page. Codes
 * are never shown.
 */
export function accountNotice(
  outcome: string | undefined,
  reason: string | undefined,
): { tone: "ok" | "danger"; text: string } | undefined {
  if (outcome === "connected") return { tone: "ok", text: "Your account is connected." };
  if (outcome !== "failed") return undefined;
  return { tone: "danger", text: FAILURES[reason ?? ""] ?? FAILURES["failed"] ?? "" };
}
