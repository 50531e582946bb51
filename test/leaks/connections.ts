/** Provider servers of random worlds: people's connections to them, what was read through those, and what is found live. */
import type { FakeMcp } from "../server/provider-servers/server.ts";
import type { makeServer } from "../helpers.ts";
import type { Content } from "#server/compose/content.ts";
import { connectionPrincipal } from "#storage/access/item-clocks.ts";
import { connector, makeItem, twinOf } from "./things.ts";
import {
  canaryFor,
  idFor,
  makeRandom,
  mayRead,
  NOW,
  user,
  userIdOf,
  WORKSPACES,
  type Model,
  type ModelConnection,
  type ModelItem,
  type Persona,
  type Random,
} from "./model.ts";

/** One of each workspace, both with a search tool that an admin has mapped. */
export const SERVERS = [
  { serverId: idFor("server", "notes"), workspace: "one", url: "https://mcp.notes.test/mcp", slug: "notes" },
  { serverId: idFor("server", "far"), workspace: "two", url: "https://mcp.far.test/mcp", slug: "far" },
] as const;

const MAPPING = { search: { tool: "find", args: {}, argument: "words", pin: "1" } };
/** Connections that only the world with more hidden things has. */
export const HIDDEN_CONNECTIONS = [0, 1, 2].map((n) => idFor("connection", `hidden ${n}`));

export function connection(
  name: string,
  owner: Persona,
  rest: Partial<Pick<ModelConnection, "visibility" | "members" | "status" | "connectionId">> = {},
): ModelConnection {
  return {
    connectionId: idFor("connection", name),
    workspace: owner === "stranger" ? "two" : "one",
    name: `${name} ${canaryFor(`connection ${name}`)}`,
    canary: canaryFor(`connection ${name}`),
    liveCanary: canaryFor(`live ${name}`),
    owner,
    visibility: "private",
    members: [],
    status: "active",
    ...rest,
  };
}

/** What was read through a connection: a connector for the whole workspace, so that the connection alone is in the way. */
export function readThrough(model: Model, one: ModelConnection, random: Random, count: number): ModelItem[] {
  const where = {
    ...connector(`behind ${one.name}`, one.workspace, "mcp", "workspace", one.owner, []),
    connectionId: one.connectionId,
  };
  model.connectors.push(where);
  return Array.from({ length: count }, (_, i) => {
    const access = { known: true as const, all: [["workspace"]] };
    const item = makeItem(random, `${model.seed} ${where.name} ${i}`, where, access, model.words);
    return { ...item, isRemoved: false };
  });
}

/** Two people's connections to one server, and others in every state. Changes the model. */
export function addConnections(model: Model): Model {
  const random = makeRandom(model.seed ^ 0xc0_22_ec);
  model.connections.push(
    connection("inside", "inside"),
    connection("outside", "outside"),
    connection("shared", "owner", { visibility: "members", members: ["inside", "removed"] }),
    connection("open", "inside", { visibility: "workspace" }),
    connection("lost", "outside", { visibility: "workspace", status: "needs_reauth" }),
    connection("left", "removed", { visibility: "workspace", status: "revoked" }),
    connection("theirs", "stranger", { visibility: "workspace" }),
  );
  for (const one of model.connections) model.items.push(...readThrough(model, one, random, 3));
  return model;
}

/** The same with connections that `persona` neither has nor sees through, whose items look like those that they see. */
export function withHiddenConnections(grown: Model, persona: Persona): Model {
  const random = makeRandom(grown.seed ^ 0xc0_22_ed);
  const seen = grown.items.filter((item) => mayRead(grown, persona, item));
  const others = (["inside", "outside"] as const).filter((other) => other !== persona);
  const [other = "inside"] = others;
  const hidden = [
    connection("hidden 0", other),
    connection("hidden 1", other, { visibility: "members", members: others }),
    connection("hidden 2", other, { visibility: "workspace", status: "needs_reauth" }),
  ];
  const model = { ...grown, connectors: [...grown.connectors], connections: [...grown.connections, ...hidden] };
  const items = hidden.flatMap((one) =>
    readThrough(model, one, random, 4).map((item) => ({
      ...(seen.length > 0 ? twinOf(random, random.pick(seen), item) : item),
      isAdded: true,
    })),
  );
  return { ...model, items: [...grown.items, ...items] };
}

const tokenOf = ({ liveCanary }: Pick<ModelConnection, "liveCanary">): string => `good-${liveCanary}`;

/** The servers of others: each answers who has a token, with hits that nobody else gets. */
export function makeFakeServers() {
  const refused = new Set<string>();
  const server = (): FakeMcp => ({
    seen: [],
    tools: [{ name: "find", inputSchema: { type: "object", properties: { words: {} } }, isReadOnly: true, pin: "1" }],
    accepts: ({ authorization = "" }) => authorization.startsWith("Bearer good-") && !refused.has(authorization),
    call(_name, { words }, { authorization = "" }) {
      const whose = authorization.replace("Bearer good-", "");
      const results = [
        { id: "1", title: `Live ${whose}`, url: `https://notes.test/${whose}`, text: `${String(words)} of ${whose}` },
      ];
      return { isError: false, content: [], structured: { results } };
    },
  });
  return {
    servers: Object.fromEntries(SERVERS.map(({ url }) => [url, server()])),
    tokenOf,
    /** From now on the server takes this token no more. */
    refuse: (one: ModelConnection) => void refused.add(`Bearer ${tokenOf(one)}`),
  };
}

type Kb = Pick<Awaited<ReturnType<typeof makeServer>>, "store"> & { deps: Pick<Content, "serverDeps"> };

/** Puts the servers and the connections of a model into the store, as they are after they were made. */
export async function putConnections({ store, deps }: Kb, model: Model): Promise<void> {
  for (const { serverId, workspace, url, slug } of SERVERS) {
    const createdBy = userIdOf(workspace === "one" ? "owner" : "stranger");
    const said = { serverInfo: null, protocolVersion: null, capabilities: null };
    const nothing = {
      headerName: null,
      clientId: null,
      callback: null,
      issuer: null,
      apps: null,
      checkedAt: null,
      latencyMs: null,
    };
    await store.in(WORKSPACES[workspace]).providerServers.insert({
      ...said,
      ...nothing,
      serverId,
      name: slug,
      url,
      slug,
      authKind: "bearer",
      isEnabled: true,
      connectPolicy: "members",
      mapping: MAPPING,
      mappedAt: null,
      mappedBy: null,
      health: "healthy",
      failures: 0,
      lastProblem: null,
      dueAt: null,
      createdAt: NOW,
      createdBy,
    });
  }
  for (const one of model.connections) {
    const workspaceId = WORKSPACES[one.workspace];
    const { connections, access } = store.in(workspaceId);
    const { connectionId, owner, visibility, members, name, status } = one;
    const nothing = { accountId: null, accountLabel: null, authorization: null, pendingUntil: null, lastUsedAt: null };
    const tools = { agreed: MAPPING, waitingSince: null };
    const at = SERVERS.find(({ workspace }) => workspace === one.workspace) ?? SERVERS[0];
    await connections.insert({
      ...nothing,
      ...tools,
      connectionId,
      serverId: at.serverId,
      ownerUserId: userIdOf(owner),
      app: at.slug,
      name,
      way: "secret",
      // Who left is removed when all else is there, and their connection with them.
      status: status === "revoked" ? "active" : status,
      statusReason: status === "needs_reauth" ? "refused" : null,
      visibility,
      memberIds: members.map(userIdOf),
      groupIds: [],
      scopes: [],
      lastCheckedAt: NOW,
      createdAt: NOW,
    });
    const sealed = deps.serverDeps.secrets.seal(workspaceId, connectionId, { token: tokenOf(one) });
    await connections.putSecret(connectionId, { sealed, expiresAt: null });
    if (status === "needs_reauth") continue;
    const readers = visibility === "workspace" ? ["workspace"] : members.map(user);
    await access.setMembers(connectionPrincipal(connectionId), [user(owner), ...readers], "kb");
  }
}
