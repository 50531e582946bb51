import { facts } from "../../storage/facts.ts";
import { createHash, randomBytes } from "node:crypto";
import { type FieldValue, makeId, type ItemKind, type TaskStatus } from "#api/common.ts";
import { analyzeDocument, nameInKey } from "#text/analyzer.ts";
import type { Principal } from "#core/principals.ts";
import type { SourceContainer, SourcePerson } from "#sources/item.ts";
import { makeItemEntities } from "#server/sync/items/entities.ts";
import type { ItemOp } from "#storage/item-batch.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer, TEST_NOW, type TestUser } from "../../helpers.ts";

/** An item as a test writes it; the rest has plain defaults. */
export interface TestItem {
  title: string;
  text?: string;
  kind?: ItemKind;
  status?: TaskStatus;
  priority?: string;
  key?: string;
  path?: string[];
  url?: string;
  source?: string;
  labels?: string[];
  fields?: Record<string, FieldValue>;
  author?: SourcePerson;
  assignees?: SourcePerson[];
  containers?: SourceContainer[];
  /** Null where its source doesn't tell. */
  updatedAt?: number | null;
  dueAt?: number;
  /** Who may read it; the whole workspace unless told. */
  readers?: Principal[];
}

export const DAY = 86_400_000;

/** A server with search, entities, reading and `/mcp` over the embedded index; nothing in it is faked but the clock. */
export async function makeKit() {
  const kb = await makeServer({ settings: { rateLimits: "off" } }, composeFeatures);
  const refused = () => kb.log.lines.filter(({ message }) => message.includes("the records refuse")).length;

  async function addItems(user: TestUser, items: readonly TestItem[]): Promise<string[]> {
    const connectorId = makeId("connector", randomBytes);
    const workspace = kb.store.in(user.workspaceId);
    await workspace.connectors.create(connectorRecord(connectorId, user));
    await workspace.access.setMembers(`group:connector:${connectorId}`, ["workspace"], "kb");
    const ops = items.map((item, n) => toOp(user.workspaceId, connectorId, item, n));
    const result = await workspace.itemWrites.applyBatch({
      connectorId,
      always: [`group:connector:${connectorId}`],
      highest: items.length,
      now: TEST_NOW,
      ops,
    });
    if (!result.isApplied) throw new Error("The items were not stored.");
    return ops.map((op) => (op.type === "upsert" ? op.item.newKbId : ""));
  }

  /** Calls a tool over `/mcp` with exactly the seed's headers. */
  async function tool(user: TestUser, name: string, args: unknown) {
    const token = await kb.token(user);
    const answer = await kb.withToken(token).request("POST", "/mcp", {
      body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
      headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-03-26" },
    });
    const { content, structuredContent, isError } = answer.json?.result ?? {};
    return {
      text: String(content?.[0]?.text ?? answer.text),
      data: structuredContent,
      isError: isError === true,
      titles: (structuredContent?.results ?? []).map((entry: { title: string }) => entry.title) as string[],
    };
  }

  return { ...kb, addItems, tool, refused };
}

function toOp(workspaceId: string, connectorId: string, item: TestItem, n: number): ItemOp {
  const { title, text = "", labels = [], path = [] } = item;
  const named = makeItemEntities(workspaceId, connectorId, {
    labels,
    ...(item.author && { author: item.author }),
    ...(item.assignees && { assignees: item.assignees }),
    ...(item.containers && { containers: item.containers }),
  });
  const person = (one: SourcePerson) => ({ name: one.name, entityId: named.idOf(one), claimed: one.claimed });
  const analyzed = analyzeDocument({
    title,
    name: nameInKey({ kind: item.kind ?? "file", key: item.key ?? null }),
    path,
    labels,
    text,
  });
  const textHash = createHash("sha256").update(text).digest("hex");
  return {
    type: "upsert",
    item: {
      newKbId: makeId("item", randomBytes),
      externalId: `item-${n}`,
      parentExternalId: null,
      identityHint: null,
      providerId: "push",
      source: item.source ?? "push:tests",
      ...facts({
        kind: item.kind ?? "file",
        key: item.key ?? null,
        title,
        path,
        size: text.length,
        status: item.status ?? null,
        priority: item.priority ?? null,
        labels,
        fields: item.fields ?? {},
        author: item.author ? person(item.author) : null,
        assignees: (item.assignees ?? []).map(person),
        updatedAt: item.updatedAt === undefined ? TEST_NOW - DAY : item.updatedAt,
        dueAt: item.dueAt ?? null,
      }),
      url: item.url ?? null,
      lineAnchor: null,
      version: "1",
      entities: named.entities,
      access: { known: true, all: [item.readers ?? ["workspace"]] },
      text:
        text === ""
          ? { state: "none", reason: "empty", message: "No text.", analyzed }
          : { state: "text", text, textHash, sections: [], analyzed },
      maskedSecrets: 0,
      indexHash: `${textHash} ${n}`,
    },
  };
}

function connectorRecord(connectorId: string, user: TestUser) {
  return {
    connectorId,
    providerId: "push",
    name: "Tests",
    ownerUserId: user.userId,
    visibility: "workspace" as const,
    memberIds: [],
    groupIds: [],
    config: {},
    scope: { include: [], exclude: [] },
    scopeVersion: 1,
    accountId: null,
    connectionId: null,
    everyMinutes: null,
    state: "active" as const,
    stateReason: null,
    nextRunAt: null,
    cursor: null,
    consecutiveFailures: 0,
    aclCheckedAt: null,
    lastFullAt: null,
    refusedAt: null,
    proofTriedAt: null,
    pausedBy: null,
    withheldAt: null,
    ownedSince: 0,
    createdAt: TEST_NOW,
    createdBy: user.userId,
  };
}
