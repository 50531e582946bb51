import type { McpAuthorization } from "#mcp-client/authorization.ts";
import type { OpenedFlow } from "#server/accounts/one-time.ts";
import type { ConnectionRecord } from "#storage/records/connections.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";
import type { ProvenAccount, RegisteredClient } from "./oauth.ts";
import type { ConnectionSecrets } from "./secrets.ts";

/** Who sees what is read through a connection. */
export type Access = Pick<ConnectionRecord, "visibility" | "memberIds" | "groupIds">;

/** What an intent is for. */
interface Intent {
  intentId: string;
  serverId: string;
  scopes: readonly string[];
  /** The connection of the flow is connected again. */
  again: boolean;
  access?: Access | undefined;
}

/** The server as it was when a person was shown where they sign in; another one gets nothing of it. Source: S31. */
export type ShownServer = Pick<ProviderServerRecord, "url" | "authKind" | "clientId">;

/** Until a person goes to the provider. */
export interface IntentFlow extends Intent {
  found: McpAuthorization;
  shown: ShownServer;
}

/** The same for a page that a server wants opened; nothing comes back from there. */
export interface PageFlow extends Intent {
  page: string;
}

/** Until they come back. */
export interface AwayFlow extends IntentFlow {
  client: RegisteredClient;
  verifier: string;
  browserHash: string;
}

/** Until they say that it is them who was found. */
export interface FoundFlow extends Intent {
  client: RegisteredClient;
  shown: ShownServer;
  secrets: ConnectionSecrets;
  expiresAt: number | null;
  account: ProvenAccount | null;
}

/** The content of each stage, which the vault has kept as it was sealed. */
interface Contents {
  intent: IntentFlow | PageFlow;
  intent_away: AwayFlow;
  intent_found: FoundFlow;
}

/** What a flow of this stage is about. */
export function contentOf<Stage extends keyof Contents>(stage: Stage, flow: OpenedFlow): Contents[Stage] {
  if (flow.stage !== stage) throw new Error(`A flow ${flow.stage} was opened as ${stage}.`);
  // Nobody but this feature seals flows of these stages, each from its own type.
  return flow.content as Contents[Stage];
}
