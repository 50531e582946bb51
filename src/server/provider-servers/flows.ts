import type { McpAuthorization } from "#mcp-client/authorization.ts";
import type { OpenedFlow } from "#server/accounts/one-time.ts";
import type { ConnectionRecord } from "#storage/records/connections.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";
import type { ProvenAccount, RegisteredClient } from "./oauth.ts";
import type { ConnectionSecrets } from "./secrets.ts";

/** Who sees the content read through a connection. */
export type Access = Pick<ConnectionRecord, "visibility" | "memberIds" | "groupIds">;

interface Intent {
  intentId: string;
  serverId: string;
  scopes: readonly string[];
  /** Whether the flow reconnects an existing connection. */
  again: boolean;
  access?: Access | undefined;
}

/**
 * The server as it was when the person was shown where they sign in. If it has changed, it gets none of their data.
 * Source: S31.
 */
export type ShownServer = Pick<ProviderServerRecord, "url" | "authKind" | "clientId">;

/** A flow before the person goes to the provider. */
export interface IntentFlow extends Intent {
  found: McpAuthorization;
  shown: ShownServer;
}

/** A flow for a page that a server wants opened. The page has no callback. */
export interface PageFlow extends Intent {
  page: string;
}

/** A flow until the person comes back from the provider. */
export interface AwayFlow extends IntentFlow {
  client: RegisteredClient;
  verifier: string;
  browserHash: string;
}

/** A flow until the person confirms that the account found is theirs. */
export interface FoundFlow extends Intent {
  client: RegisteredClient;
  shown: ShownServer;
  secrets: ConnectionSecrets;
  expiresAt: number | null;
  account: ProvenAccount | null;
}

/** The content of each stage, as the vault sealed it. */
interface Contents {
  intent: IntentFlow | PageFlow;
  intent_away: AwayFlow;
  intent_found: FoundFlow;
}

export function contentOf<Stage extends keyof Contents>(stage: Stage, flow: OpenedFlow): Contents[Stage] {
  if (flow.stage !== stage) throw new Error(`A flow ${flow.stage} was opened as ${stage}.`);
  // Only this feature seals flows of these stages, and each with its own type.
  return flow.content as Contents[Stage];
}
