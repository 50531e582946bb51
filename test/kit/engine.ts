import { composeFeatures } from "../features.ts";
import { makeServer } from "../helpers.ts";
import { fakeExtractor } from "../server/sync/harness.ts";
import { makeGroupPages } from "#storage/batch/group-pages.ts";
import type { PeopleEvent } from "#storage/batch/people-batch.ts";
import type { Source } from "#sources/contract.ts";
import { formatPrincipal } from "#core/principals.ts";
import { contextOf, type KitFixture } from "./fixture.ts";
import type { IdentityEvent } from "./identities.ts";
import { thisMachine } from "./network.ts";

export type KitEngine = Awaited<ReturnType<typeof openEngine>>;

const PROOF_MS = 24 * 3_600_000;

/**
 * The server itself, on a database of its own, with one connector of the fixture's source, made by an admin on a registered
 * instance, and a member for everybody who is at the remote, tied to who they are there.
 */
export async function openEngine(fixture: KitFixture) {
  const { source, config, credentials } = fixture;
  const { providerId, hasPeople } = source.spec;
  const sources = {
    find: async (id: string) => (id === providerId ? (source as Source) : undefined),
    list: async () => [source as Source],
  };
  const kb = await makeServer({ addressGuard: thisMachine }, (core, database) =>
    composeFeatures(core, database, { sources, extractor: fakeExtractor }),
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
  const connectorId: string = (await ask("post", "/api/connectors", body)).connector.id;
  const store = kb.store.in(workspaceId);
  const members = new Map<string, Awaited<ReturnType<typeof kb.actor>>>();
  const instance = baseUrl?.replace(/^https:\/\//, "") ?? connectorId;
  const userOf = (id: string) => formatPrincipal({ type: "source_user", providerId, instance, id });
  let peopleRuns = 0;

  async function ask(method: "post" | "patch", path: string, json: unknown) {
    const answer = await kb.as(owner)[method](path, json);
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.json)}`);
    return answer.json;
  }

  /** One identity run into the store. */
  async function readPeople(mode: "whole" | "changes" = "whole"): Promise<void> {
    if (!source.syncIdentities) return;
    const context = contextOf({
      ...fixture,
      context: { ...fixture.context, connector: { id: connectorId, name: "Kit", instance } },
    });
    const teller = () => ({
      connectorId,
      toldIn: "identities" as const,
      isTrusted: hasPeople === true,
      runId: `people${peopleRuns}`,
      mode,
      now: kb.clock.now(),
      maxAclAgeMs: PROOF_MS,
    });
    peopleRuns++;
    const { position, cursor } = await store.sourcePeople.begin(teller());
    const pages = makeGroupPages();
    let events: PeopleEvent[] = [];
    for await (const event of source.syncIdentities(context, {
      mode,
      cursor: cursor === null ? null : JSON.parse(cursor),
    })) {
      if (event.t === "checkpoint") {
        const checkpoint = { cursor: JSON.stringify(event.cursor) };
        await store.sourcePeople.apply({ ...teller(), since: position, events, checkpoint });
        events = [];
      } else if (event.t === "end") {
        const isComplete = event.listing === "complete";
        const currentAt = mode === "changes" ? { currentAt: kb.clock.now() } : {};
        await store.sourcePeople.end({ ...teller(), isComplete, notLookedAt: event.notLookedAt ?? [], ...currentAt });
      } else {
        events.push(...toStored(event, pages, kb.clock.now()));
      }
    }
    await tie();
  }

  /** Makes a member of everybody at the remote. */
  async function tie(): Promise<void> {
    for (const { id } of (await fixture.people?.()) ?? []) {
      if (members.has(id)) continue;
      const user = await kb.addMember(workspaceId);
      members.set(id, await kb.actor(user));
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
      // Runs are listed by the time of their request.
      kb.clock.advance(1);
      await ask("post", `/api/connectors/${connectorId}/syncs`, { mode });
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
    /** Whether the owner, who is nobody at the remote, may read it. */
    async isOpenToOwner(externalId: string): Promise<boolean> {
      const kbIds = (await rows()).filter((row) => row.externalId === externalId).map(({ kbId }) => kbId);
      return (await kb.deps.policy.mayRead(await kb.actor(owner), kbIds)).size > 0;
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

function toStored(
  event: Exclude<IdentityEvent, { t: "checkpoint" | "end" }>,
  pages: ReturnType<typeof makeGroupPages>,
  at: number,
): PeopleEvent[] {
  switch (event.t) {
    case "group": {
      const { group, members, etag, more } = event;
      const whole = pages.add({ group, members, hasMore: more === true, at, ...(etag !== undefined && { etag }) });
      return whole ? [whole] : [];
    }
    case "group_same":
      return [{ t: "group_same", groups: event.groups, at }];
    case "member":
      return [{ t: "member", group: event.group, member: event.member, isRemoved: event.removed === true }];
    case "identity": {
      const { principal, state, name = null, login = null, email, sameAs = [] } = event;
      const address = { email: email?.address ?? null, isEmailVerified: email?.isVerified === true };
      return [{ t: "identity", principal, state, name, login, ...address, sameAs, at }];
    }
  }
}
