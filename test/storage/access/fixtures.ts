import type { ConnectorState } from "#storage/records/connectors.ts";
import { factColumns, facts } from "../facts.ts";
import { randomBytes } from "node:crypto";
import { makeId, type Role } from "#api/common.ts";
import type { ItemOp } from "#storage/item-batch.ts";
import type { Database } from "#storage/database/db.ts";
import type { ItemsTable } from "#storage/schema.ts";
import { makePolicy, type Policy } from "#storage/policy/policy.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { Store } from "#storage/records/store.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { internIn } from "./intern.ts";
import { openTestStore } from "../../helpers.ts";

const NOW = Date.UTC(2026, 10, 21, 9, 30);

export interface ItemInput extends Partial<Omit<ItemsTable, "workspaceId" | "aclId">> {
  connectorId: string;
  /** The source's lists; open to everybody who may use the connector unless given. */
  access?: SourceAccess;
  text?: string;
}

/** One database with workspaces, people, connectors and items written straight into the tables. */
export interface World {
  database: Database;
  store: Store;
  policy: Policy;
  clock: { ms: number; now(): number };
  workspace(name?: string): Promise<string>;
  user(workspaceId: string, role?: Role): Promise<Actor>;
  /** A connector that `members` (principals) may use. */
  connector(workspaceId: string, options?: ConnectorInput): Promise<string>;
  item(workspaceId: string, input: ItemInput): Promise<string>;
}

export interface ConnectorInput {
  connectorId?: string;
  providerId?: string;
  name?: string;
  ownerUserId?: string;
  state?: ConnectorState;
  aclCheckedAt?: number | null;
  members?: readonly Principal[];
}

export async function makeWorld(): Promise<World> {
  const { database, store } = await openTestStore();
  const clock = { ms: NOW, now: () => clock.ms };
  const policy = makePolicy({
    store,
    clock,
    ages: (providerId) => ACL_OF[providerId] !== "connector" && providerId !== "push",
  });
  return {
    database,
    store,
    policy,
    clock,
    async workspace(name = "Acme") {
      const workspaceId = makeId("workspace", randomBytes);
      await database.write
        .insertInto("workspaces")
        .values({ workspaceId, name, timeZone: "UTC", createdAt: NOW })
        .execute();
      return workspaceId;
    },
    async user(workspaceId, role = "member") {
      const userId = makeId("user", randomBytes);
      const row = { userId, email: `${userId}@x.test`, emailKey: `${userId}@x.test`, name: userId };
      await database.write
        .insertInto("users")
        .values({ ...row, passwordHash: null, emailVerifiedAt: null, timeZone: null, createdAt: NOW })
        .execute();
      await database.write.insertInto("members").values({ workspaceId, userId, role, joinedAt: NOW }).execute();
      await store.in(workspaceId).access.raiseEpoch();
      const scopes =
        role === "member" ? (["mcp:read", "kb:api"] as const) : (["mcp:read", "kb:api", "kb:admin"] as const);
      return { workspaceId, userId, role, scopes, credential: { type: "session", id: "ses_1" }, timeZone: "UTC" };
    },
    async connector(workspaceId, options = {}) {
      const connectorId = options.connectorId ?? makeId("connector", randomBytes);
      await database.write
        .insertInto("connectors")
        .values(connectorRow(workspaceId, connectorId, options))
        .execute();
      const members = options.members ?? ["workspace"];
      await store.in(workspaceId).access.setMembers(`group:connector:${connectorId}`, members, "kb");
      return connectorId;
    },
    async item(workspaceId, input) {
      const { access = { known: true, all: [["workspace"]] }, text = "", ...columns } = input;
      const kbId = columns.kbId ?? makeId("item", randomBytes);
      const aclId = internIn(database, workspaceId, access, [`group:connector:${input.connectorId}`]);
      await database.write
        .insertInto("items")
        .values({ ...itemRow(kbId, text), ...columns, workspaceId, kbId, aclId })
        .execute();
      for (let chunk = 0, start = 0; start < text.length; chunk++) {
        let end = start + 16_000;
        // A chunk never ends inside a pair: its halves would not survive the database's encoding.
        if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end += 1;
        await database.write
          .insertInto("item_texts")
          .values({ workspaceId, kbId, chunk, start, text: text.slice(start, end) })
          .execute();
        start = end;
      }
      return kbId;
    },
  };
}

/** An item as a sync stores it, index and all; its text is its title unless given. */
export function upsertOf(
  kbId: string,
  { title, text = title, access }: { title: string; text?: string; access: SourceAccess },
): ItemOp {
  const analyzed = analyzeDocument({ title, path: [], labels: [], text });
  return {
    type: "upsert",
    item: {
      newKbId: kbId,
      externalId: kbId,
      parentExternalId: null,
      identityHint: null,
      providerId: "push",
      source: "push:joint",
      ...facts({ title, updatedAt: NOW }),
      url: null,
      lineAnchor: null,
      version: "1",
      entities: [],
      access,
      text: { state: "text", text, textHash: `hash of ${text}`, sections: [], analyzed },
      maskedSecrets: 0,
      indexHash: `${title} ${text}`,
    },
  };
}

export const ACL_OF: Record<string, "per_item" | "container" | "connector"> = {
  filesystem: "connector",
  push: "per_item",
  github: "container",
  "google-drive": "per_item",
};

function connectorRow(workspaceId: string, connectorId: string, options: ConnectorInput) {
  const { providerId = "filesystem", name = "Docs", ownerUserId = "usr_nobody", state = "active" } = options;
  return {
    workspaceId,
    connectorId,
    providerId,
    name,
    ownerUserId,
    visibility: "workspace" as const,
    memberIds: "[]",
    groupIds: "[]",
    config: "{}",
    scope: '{"include":[],"exclude":[]}',
    scopeVersion: 1,
    accountId: null,
    connectionId: null,
    everyMinutes: null,
    state,
    stateReason: null,
    nextRunAt: null,
    cursor: null,
    consecutiveFailures: 0,
    aclCheckedAt: options.aclCheckedAt ?? null,
    lastFullAt: null,
    refusedAt: null,
    proofTriedAt: null,
    pausedBy: null,
    withheldAt: null,
    ownedSince: 0,
    createdAt: NOW,
    createdBy: ownerUserId,
  };
}

function itemRow(kbId: string, text: string): Omit<ItemsTable, "workspaceId" | "aclId" | "connectorId"> {
  return {
    replyTo: null,
    contentRef: null,
    kbId,
    externalId: `${kbId}.md`,
    parentExternalId: null,
    ownClockAt: null,
    ownClockCause: null,
    ownClockBy: null,
    reader: null,
    readerVersion: null,
    readAgainAt: null,
    formerSince: null,
    cutRetries: null,
    readElsewhere: 0,
    providerId: "filesystem",
    source: "filesystem:Docs",
    ...factColumns({ title: kbId, mimeType: "text/markdown", updatedAt: NOW }),
    url: null,
    lineAnchor: null,
    version: "1",
    textHash: "h",
    textChars: text.length,
    sections: "[]",
    indexedAt: NOW,
    indexState: "indexed",
    textReason: null,
    textMessage: null,
    retryAt: null,
    ownAclId: null,
    seenBy: null,
    removedAt: null,
    identityHint: null,
    indexHash: null,
    maskedSecrets: 0,
  };
}
