import type { AuditRead } from "#api/audit.ts";
import type { Grant } from "#api/oauth.ts";
import type { Token } from "#api/tokens.ts";
import { programIn } from "./browser-words.ts";

/** The latest call of a client. */
export interface ClientCall {
  /** The client's own name, or the name of its token. */
  who: string;
  /** Null if the call returned nothing, so that only its token or grant recorded the call. */
  tool: string | null;
  at: string;
}

/** Returns the newest tool call by one of the person's clients; undefined before the first one. */
export function newestCall(
  reads: readonly AuditRead[],
  credentials: readonly Pick<Token, "id" | "lastUsedAt" | "scopes" | "name">[],
): ClientCall | undefined {
  // Items that the person opens in the browser, or reads with the command line, aren't calls of a client.
  const read = reads.find(({ credential, tool }) => !credential.startsWith("session:") && tool.startsWith("kb_"));
  const calls = credentials.flatMap(({ name, lastUsedAt, scopes }): ClientCall[] =>
    lastUsedAt !== null && scopes.includes("mcp:read") ? [{ who: name, tool: null, at: lastUsedAt }] : [],
  );
  if (read !== undefined) {
    const [, id] = read.credential.split(":");
    const named = credentials.find((credential) => credential.id === id)?.name;
    calls.push({ who: programIn(read.client)?.name ?? named ?? "A client", tool: read.tool, at: read.at });
  }
  return calls.sort((a, b) => Date.parse(b.at) - Date.parse(a.at))[0];
}

/** Converts tokens and grants for `newestCall`. */
export function credentialsOf(tokens: readonly Token[], grants: readonly Grant[]) {
  return [...tokens, ...grants.map(({ clientName, ...grant }) => ({ ...grant, name: clientName }))];
}

/** Returns `4 seconds ago`; undefined from a minute on, since other functions describe longer times. */
export function secondsAgo(at: string, now: number): string | undefined {
  // The clocks of the two machines may differ a little.
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (seconds >= 60) return undefined;
  return new Intl.RelativeTimeFormat("en-GB").format(-seconds, "second");
}
