import { z } from "zod";
import { formatPrincipal, type Principal } from "#core/principals.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";
import type { Source } from "#sources/contract.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import type { WebhookChange } from "#sources/webhook.ts";
import { scripted } from "../../../scripted.ts";
import { composeFeatures } from "../../../features.ts";
import { makeServer, type TestUser } from "../../../helpers.ts";
import { fakeExtractor, upsert } from "../harness.ts";

export interface ForgeContext {
  user(id: string): Principal;
  group(id: string): Principal;
}

/** What the forge at an address says: its items, and its users and groups. */
export interface ForgeWorld {
  items(at: ForgeContext): Iterable<SyncEvent> | AsyncIterable<SyncEvent>;
  people(at: ForgeContext, run: IdentityRun): Iterable<IdentityEvent> | AsyncIterable<IdentityEvent>;
}

export const BASE_URL = "https://git.acme.test";

/** A server with a made-up forge, whose answers the test writes by base URL. */
export async function makeForge(worlds: Record<string, ForgeWorld>) {
  const runs: { connectorId: string; mode: string; cursor: unknown }[] = [];
  const contextOf = ({ connector }: { connector: { id: string; instance?: string } }): ForgeContext => ({
    user: (id) =>
      formatPrincipal({ type: "source_user", providerId: "forge", instance: connector.instance ?? "?", id }),
    group: (id) => formatPrincipal({ type: "source_group", connectorId: connector.id, id }),
  });
  const config = z.strictObject({ url: z.string(), readers: z.array(z.string()).optional() });
  const source: Source<z.infer<typeof config>> = {
    spec: {
      providerId: "forge",
      name: "Forge",
      kinds: ["file"],
      auth: [{ type: "credentials", scheme: "bearer", token: "token" }],
      credentials: z.strictObject({ token: z.string() }),
      config,
      acl: "container",
      hasPeople: true,
      namedIn: ["readers"],
    },
    webhook: {
      verify: (secret, { headers, rawBody }) =>
        headers.get("x-forge-secret") === secret
          ? { changes: JSON.parse(Buffer.from(rawBody).toString()) as WebhookChange[] }
          : "refused",
    },
    namedGroup: ({ readers = [] }, connectorId) => ({
      group: formatPrincipal({ type: "source_group", connectorId, id: "readers" }),
      members: readers.map((reader) => (reader === "workspace" ? reader : `group:${reader}`)),
    }),
    baseUrlOf: ({ url }) => url,
    originOf: ({ url }) => new URL(url).origin,
    check: async () => ({ ok: true }),
    sessions: scripted(async function* (ctx) {
      yield* worlds[ctx.config.url]?.items(contextOf(ctx)) ?? [];
      yield { t: "end", listing: "complete", permissions: "current" };
    }),
    async *syncIdentities(ctx, run) {
      runs.push({ connectorId: ctx.connector.id, mode: run.mode, cursor: run.cursor });
      yield* worlds[ctx.config.url]?.people(contextOf(ctx), run) ?? [];
    },
  };
  // The registry holds sources of any config.
  const any = source as unknown as Source;
  const sources = { find: async (id: string) => (id === "forge" ? any : undefined), list: async () => [any] };
  const kb = await makeServer({}, (core, database) =>
    composeFeatures(core, database, { sources, extractor: fakeExtractor }),
  );
  const owner = await kb.addOwner();
  const work = () => kb.deps.worker.runUntilIdle();
  async function add(who: TestUser, url = BASE_URL): Promise<string> {
    const body = { providerId: "forge", name: `Forge ${url}`, config: { url }, credentials: { token: "t" } };
    const { json } = await kb.as(who).post("/api/connectors", { ...body, access: { visibility: "workspace" } });
    return json.connector.id;
  }
  return {
    ...kb,
    owner,
    runs,
    work,
    register: () => kb.as(owner).patch("/api/workspace", { instances: [{ providerId: "forge", baseUrl: BASE_URL }] }),
    setDomains: (identityDomains: string[]) => kb.as(owner).patch("/api/workspace", { identityDomains }),
    /** Makes a connector, and leaves its runs in the queue. */
    add,
    async connect(who: TestUser, url = BASE_URL): Promise<string> {
      const connectorId = await add(who, url);
      await work();
      return connectorId;
    },
    /** A way to send notifications of this connector. */
    async notifier(connectorId: string) {
      const { secret } = (await kb.as(owner).post(`/api/connectors/${connectorId}/webhook`)).json;
      return async (changes: readonly WebhookChange[], signature: string = secret): Promise<number> => {
        const headers = { "content-type": "application/json", "x-forge-secret": signature };
        const raw = JSON.stringify(changes);
        return (await kb.anyone().request("POST", `/hooks/forge/${connectorId}`, { raw, headers })).status;
      };
    },
    async pass(ms: number): Promise<void> {
      kb.clock.advance(ms);
      await work();
    },
    async verify(who: TestUser): Promise<void> {
      await kb.database.write
        .updateTable("users")
        .set({ emailVerifiedAt: kb.clock.now() })
        .where("userId", "=", who.userId)
        .execute();
    },
    people: async (connectorId: string, query = "") =>
      (await kb.as(owner).get(`/api/connectors/${connectorId}/people${query}`)).json,
    link: (who: TestUser, connectorId: string, principal: Principal, userId: string | null) =>
      kb.as(who).request("PUT", `/api/connectors/${connectorId}/people`, { body: { links: [{ principal, userId }] } }),
    async readable(who: TestUser): Promise<string[]> {
      const rows = await kb.database.read.selectFrom("items").select(["kbId", "externalId"]).execute();
      const open = await kb.deps.policy.mayRead(
        await kb.actor(who),
        rows.map((row) => row.kbId),
      );
      return rows.flatMap((row) => (open.has(row.kbId) ? [row.externalId] : [])).sort();
    },
  };
}

/** An item that these may read. */
export function openTo(externalId: string, ...list: Principal[]): SyncEvent {
  return upsert(externalId, `text of ${externalId}`, { access: { known: true, all: [list] } });
}

export function person(
  principal: Principal,
  address?: string,
  more: Partial<{ state: "suspended" | "gone" }> = {},
): IdentityEvent {
  return {
    t: "identity",
    principal,
    state: "active",
    name: `Name of ${principal.split(":").at(-1) ?? ""}`,
    ...(address !== undefined && { email: { address, isVerified: true } }),
    ...more,
  };
}

export const WHOLE: IdentityEvent = { t: "end", listing: "complete" };
