import { randomBytes } from "node:crypto";
import { composeFeatures } from "../features.ts";
import { makeServer, type TestServerOptions, type TestUser } from "../helpers.ts";
import { fakeExtractor } from "../server/sync/harness.ts";
import { requestIdentities } from "#server/sync/schedule/identity-requests.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import type { Source } from "#sources/contract.ts";
import { instanceName } from "#core/base-url.ts";
import { formatPrincipal } from "#core/principals.ts";
import type { KitFixture } from "./fixture.ts";
import { thisMachine } from "./network.ts";

const MINUTE_MS = 60_000;

/** What of a fixture the server needs. */
export type EngineFixture = Pick<KitFixture, "source" | "config" | "credentials" | "context" | "connection" | "people">;

export type KitEngine = Awaited<ReturnType<typeof openEngine>>;

/**
 * The server itself, on a database of its own, with one connector of the fixture's source, made by an admin on a registered
 * instance, and a member for everybody who is at the remote, tied to who they are there.
 */
export async function openEngine(fixture: EngineFixture, options: Pick<TestServerOptions, "settings"> = {}) {
  const { source, config, credentials } = fixture;
  const { providerId } = source.spec;
  const sources = {
    find: async (id: string) => (id === providerId ? (source as Source) : undefined),
    list: async () => [source as Source],
  };
  const kb = await makeServer({ addressGuard: thisMachine, ...options }, (core, database) =>
    composeFeatures(core, database, {
      sources,
      extractor: fakeExtractor,
      openMcp: async (_target, signal, isListening = false) => {
        const { mcp } = fixture.context ?? {};
        if (mcp === undefined) throw new Error("The fixture has no connection.");
        return mcp.open({ signal, isListening });
      },
    }),
  );
  const owner = await kb.addOwner();
  const { workspaceId } = owner;
  const baseUrl = source.baseUrlOf?.(config);
  if (baseUrl !== undefined) await ask("patch", "/api/workspace", { instances: [{ providerId, baseUrl }] });
  const body = {
    providerId,
    name: "Kit",
    config,
    access: { visibility: "workspace" },
    ...(credentials && { credentials }),
  };
  const connectionId = fixture.connection && (await connectTo(fixture.connection));
  const whole = { ...body, ...(connectionId !== undefined && { connectionId }) };
  const connectorId: string = (await ask("post", "/api/connectors", whole)).connector.id;
  const store = kb.store.in(workspaceId);
  const members = new Map<string, Awaited<ReturnType<typeof kb.actor>>>();
  const users = new Map<string, TestUser>();
  const tenantId = await store.instances.tenantOf(connectorId);
  const instance = baseUrl === undefined ? connectorId : instanceName(baseUrl, tenantId);
  const userOf = (id: string) => formatPrincipal({ type: "source_user", providerId, instance, id });

  /** A connection of the owner's to a provider server. */
  async function connectTo({ url, mapping }: NonNullable<KitFixture["connection"]>): Promise<string> {
    const { server } = await ask("post", "/api/mcp-servers", { name: "Kit", url, auth: { kind: "none" } });
    await ask("put", `/api/mcp-servers/${server.id}/mapping`, { mapping });
    return (await ask("post", `/api/mcp-servers/${server.id}/connections`, { app: "kit" })).connection.id;
  }

  async function ask(method: "post" | "patch" | "put", path: string, body: unknown) {
    const answer = await kb.as(owner).request(method.toUpperCase(), path, { body });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.json)}`);
    return answer.json;
  }

  /** A run that reads who belongs to what: whole for the first time, then what changed. Whatever else is due runs too. */
  async function readPeople(): Promise<void> {
    if (!source.syncIdentities) return;
    kb.clock.advance(1);
    const connector = await store.connectors.find(connectorId);
    if (!connector) throw new Error("The connector is gone.");
    const wish = { trigger: "manual" as const, now: kb.clock.now(), randomBytes };
    await kb.store.transaction((tx) => requestIdentities(tx, workspaceId, connector, wish));
    await kb.deps.worker.runUntilIdle();
    await tie();
  }

  /** Makes a member of everybody at the remote. */
  async function tie(): Promise<void> {
    for (const { id } of (await fixture.people?.()) ?? []) {
      if (members.has(id)) continue;
      const user = await kb.addMember(workspaceId);
      members.set(id, await kb.actor(user));
      users.set(id, user);
      const join = {
        principal: userOf(id),
        userId: user.userId,
        connectorId,
        basis: "admin" as const,
        joinedBy: owner.userId,
      };
      await kb.store.transaction((tx) => tx.in(workspaceId).identities.join({ ...join, joinedAt: kb.clock.now() }));
    }
  }

  const rows = () =>
    kb.database.read
      .selectFrom("items")
      .select(["kbId", "externalId", "version", "indexState", "removedAt"])
      .where("removedAt", "is", null)
      .execute();

  return {
    kb,
    owner,
    connectorId,
    userOf,
    readPeople,
    rows,
    work: () => kb.deps.worker.runUntilIdle(),
    /** Lets time pass, and does what is due then. */
    async pass(ms: number): Promise<void> {
      kb.clock.advance(ms);
      await kb.deps.worker.runUntilIdle();
    },
    /** A run that somebody asks for. */
    async sync(mode: "full" | "incremental" = "incremental"): Promise<void> {
      // People and groups are read at most once a minute for those who ask.
      kb.clock.advance(MINUTE_MS);
      await ask("post", `/api/connectors/${connectorId}/syncs`, { mode });
      await kb.deps.worker.runUntilIdle();
    },
    /** A run of what changed as the schedule has it, without people and groups. */
    async increment(): Promise<void> {
      kb.clock.advance(1);
      const connector = await store.connectors.find(connectorId);
      if (!connector) throw new Error("The connector is gone.");
      const wish = { trigger: "schedule", mode: "incremental", now: kb.clock.now(), randomBytes } as const;
      await kb.store.transaction((tx) => requestSync(tx, workspaceId, connector, wish));
      await kb.deps.worker.runUntilIdle();
    },
    lastSync: async () => (await kb.as(owner).get(`/api/connectors/${connectorId}/syncs`)).json.syncs[0],
    connector: async () => (await kb.as(owner).get(`/api/connectors/${connectorId}`)).json.connector,
    /** Ids of the people of the remote who may read an item here, sorted. */
    async whoSees(externalId: string): Promise<string[]> {
      const kbIds = (await rows()).filter((row) => row.externalId === externalId).map(({ kbId }) => kbId);
      const found: string[] = [];
      for (const [id, actor] of members) if ((await kb.deps.policy.mayRead(actor, kbIds)).size > 0) found.push(id);
      return found.sort();
    },
    /** The same of each item, by its id at the remote: one question for each person. */
    async whoSeesEach(): Promise<Map<string, string[]>> {
      const all = await rows();
      const found = new Map(all.map(({ externalId }) => [externalId, [] as string[]]));
      for (const [id, actor] of [...members].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const open = await kb.deps.policy.mayRead(
          actor,
          all.map(({ kbId }) => kbId),
        );
        for (const { kbId, externalId } of all) if (open.has(kbId)) found.get(externalId)?.push(id);
      }
      return found;
    },
    /** Whether the owner, who is nobody at the remote, may read it. */
    async isOpenToOwner(externalId: string): Promise<boolean> {
      const kbIds = (await rows()).filter((row) => row.externalId === externalId).map(({ kbId }) => kbId);
      return (await kb.deps.policy.mayRead(await kb.actor(owner), kbIds)).size > 0;
    },
    /** The member who is this person at the remote. */
    memberOf(id: string): TestUser {
      const user = users.get(id);
      if (!user) throw new Error(`${id} is no member.`);
      return user;
    },
    /** What is stored as the text of an item. */
    async textOf(externalId: string): Promise<string> {
      const chunks = await kb.database.read
        .selectFrom("item_texts")
        .innerJoin("items", (on) => on.onRef("items.kbId", "=", "item_texts.kbId"))
        .select("item_texts.text")
        .where("items.externalId", "=", externalId)
        .orderBy("item_texts.chunk")
        .execute();
      return chunks.map(({ text }) => text).join("");
    },
  };
}
