/**
 * Questions for every route and tool. The walk goes over the contract, so a new route without a row here fails the
 * suites: give it a generator, or say why there is nothing to ask.
 */
import { entitiesRoute, entityContextRoute } from "#api/entities.ts";
import { ROUTE_GROUPS } from "#api/index.ts";
import { searchRoute } from "#api/search.ts";
import { TOOL_NAMES } from "#api/tools.ts";
import { containerEntityId, makeEntityId } from "#server/sync/items/entities.ts";
import { HIDDEN_CONNECTIONS, SERVERS } from "./connections.ts";
import { sourceUser } from "./mirror.ts";
import {
  entityIdOf,
  idFor,
  PERSONAS,
  WORKSPACES,
  syncIdsOf,
  userIdOf,
  type Model,
  type ModelItem,
  type Random,
} from "./model.ts";

export interface Question {
  /** `METHOD path` of the contract, or `tool <name>`. */
  route: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

type Asked = Omit<Question, "route">;

/** What questions are made of: everything that exists in any of the worlds, and things that exist nowhere. */
export interface Vocabulary {
  random: Random;
  kbIds: readonly string[];
  connectorIds: readonly string[];
  /** Ids that nobody but their owner and admins may know, or that do not exist. */
  hiddenConnectorIds: readonly string[];
  serverIds: readonly string[];
  /** The same of connections to provider servers. */
  hiddenConnectionIds: readonly string[];
  words: readonly string[];
  sources: readonly string[];
  urls: readonly string[];
  keys: readonly string[];
  /** Titles, paths and permalinks: what else an item may be named by. */
  names: readonly string[];
  people: readonly string[];
  /** `name:value`. */
  pairs: readonly string[];
  entityIds: readonly string[];
  syncIdsOf: (connectorId: string) => readonly string[];
}

/** Half of the ids asked about are those in `seen`: an answer that shows something is worth as much as one that must not. */
export function vocabularyOf(model: Model, random: Random, seen: readonly ModelItem[] = []): Vocabulary {
  const { items, connectors } = model;
  const again = seen.length === 0 ? [] : items.map(() => random.pick(seen));
  const present = <T>(values: (T | null)[]) => values.filter((value) => value !== null);
  const nowhere = (kind: "item" | "connector" | "entity") => [1, 2, 3].map((n) => idFor(kind, `nowhere ${n}`));
  const pairsOf = ({ fields }: ModelItem) =>
    Object.entries(fields).map(([name, value]) => `${name}:${String(typeof value === "object" ? value[0] : value)}`);
  return {
    random,
    kbIds: [...items, ...again].map((item) => item.kbId).concat(nowhere("item")),
    connectorIds: [
      ...connectors.map((one) => one.connectorId),
      ...again.slice(0, connectors.length).map((item) => item.connectorId),
      ...nowhere("connector"),
    ],
    hiddenConnectorIds: [
      ...["secret", "elsewhere", "dark", "shut", "cloister"].map((name) => idFor("connector", name)),
      ...nowhere("connector"),
    ],
    serverIds: [...SERVERS.map(({ serverId }) => serverId), idFor("server", "nowhere")],
    hiddenConnectionIds: [...HIDDEN_CONNECTIONS, idFor("connection", "nowhere")],
    words: [...model.words, ...model.hiddenWords, "cnry", ...items.map((item) => item.canary)],
    sources: [
      ...new Set([...items, ...again].flatMap((item) => [item.source, item.connectorId])),
      "push",
      "filesystem",
      "mirror",
      "push:nowhere",
      ...nowhere("connector"),
    ],
    urls: [...present(items.map((item) => item.url)), "https://docs.test/nowhere"],
    keys: [...present(items.map((item) => item.key)), "NOPE-1", "#3"],
    names: [
      ...[...items, ...again].flatMap(({ title, key, path, kbId }) => [
        title,
        ...(key === null ? [] : [[...path, key].join("/")]),
        `/i/${kbId}`,
        `https://kb.test/i/${kbId}`,
      ]),
      "Nothing is called so",
    ],
    people: [
      "me",
      "Ana",
      "Bo Smith",
      "Cy",
      "No one Here",
      ...[...items.slice(0, 20), ...items.filter(({ mirrored }) => mirrored).slice(-20)].map((item) => item.author),
      ...connectors.flatMap(({ mirror }) => mirror?.users.map(({ canary }) => canary) ?? []),
    ],
    pairs: [...items.flatMap(pairsOf), ...again.flatMap(pairsOf), "stage:nowhere", "nowhere:1"],
    entityIds: [...new Set(items.flatMap(entitiesOf)), ...again.flatMap(entitiesOf), ...nowhere("entity")],
    syncIdsOf,
  };
}

function entitiesOf(item: ModelItem): string[] {
  const { connectorId, mirrored } = item;
  if (mirrored) {
    const folder = containerEntityId(WORKSPACES.one, connectorId, { type: "folder", id: mirrored.space });
    return [makeEntityId(WORKSPACES.one, "person", sourceUser(mirrored.authorId)), folder];
  }
  return [
    ["person", item.author],
    ["label", item.labels[0]],
    ["folder", item.path[0]],
  ].map(([type, name]) => entityIdOf(item, String(type), String(name)));
}

/** All routes of the contract as `METHOD path`, and all tools. */
export function surface(): string[] {
  const routes = Object.values(ROUTE_GROUPS).flatMap((group) =>
    Object.values(group).map((route) => `${route.method.toUpperCase()} ${route.path}`),
  );
  return [...new Set([...routes, ...TOOL_NAMES.map((name) => `tool ${name}`), ...BESIDE_GROUPS])].sort();
}

/** A question for this route; undefined where `NOTHING_TO_ASK` says why. Throws for a route nobody thought of. */
export function ask(route: string, words: Vocabulary): Question | undefined {
  const generator = GENERATORS[route];
  if (generator) return { route, ...generator(words) };
  if (route in NOTHING_TO_ASK) return undefined;
  throw new Error(`${route} has no generator in test/leaks/requests.ts.`);
}

/** Routes that show items to anyone who may read some; they are asked more often. */
export const READS_ITEMS = /files(?!.*restore$)|search|entities|syncs|removals$|^tool/;

/** Rows of the two tables that no route stands behind any more. */
export function staleRows(): string[] {
  const known = new Set(surface());
  return [...Object.keys(GENERATORS), ...Object.keys(NOTHING_TO_ASK)].filter((row) => !known.has(row));
}

/** Routes whose contract stands in files of its own. */
const BESIDE_GROUPS = [searchRoute, entitiesRoute, entityContextRoute].map(
  (route) => `${route.method.toUpperCase()} ${route.path}`,
);

/** Acts on the caller's own records, sign-in routes, and routes without items; each with the reason why it can't reveal one. */
export const NOTHING_TO_ASK: Readonly<Record<string, string>> = {
  "POST /api/session": "signs in; reads no items",
  "DELETE /api/session": "ends the session that asks",
  "DELETE /api/sessions/{id}": "ends a session",
  "POST /api/onboarding": "closed once a user exists",
  "POST /api/invitations/accept": "makes a user",
  "POST /api/api-tokens": "needs a session; makes a token",
  "POST /api/api-tokens/{id}/adopt": "changes a token of one's own",
  "POST /api/workspace/invitations": "makes an invitation; reads people only",
  "DELETE /api/workspace/invitations/{id}": "ends an invitation",
  "POST /api/groups": "makes a group; reads people only",
  "PATCH /api/groups/{id}": "changes a group; reads people only",
  "DELETE /api/groups/{id}": "ends a group",
  "PATCH /api/workspace": "names the workspace",
  "PATCH /api/workspace/members/{id}": "changes a role",
  "DELETE /api/workspace/members/{id}": "ends a membership",
  "POST /api/workspace/members/{id}/password-reset": "makes a link; reads people only",
  "POST /api/session/workspace": "opens another session",
  "POST /api/workspaces": "makes a workspace",
  "POST /api/sign-up": "makes a user",
  "POST /api/password-reset": "sends a link",
  "POST /api/password-reset/confirm": "needs a link; sets a password",
  "POST /api/email-verification": "sends a link",
  "POST /api/email-verification/confirm": "needs a link",
  "PATCH /api/profile": "changes one's own name",
  "POST /api/profile/password": "changes one's own password",
  "POST /api/profile/email": "changes one's own address",
  "GET /api/sso/authorize": "leads to the identity provider",
  "GET /api/sso/callback": "comes from the identity provider; signs in",
  "GET /api/oauth/{provider}/authorize": "leads to the provider of an account",
  "GET /api/oauth/{provider}/callback": "comes from the provider of an account",
  "GET /api/oauth/{provider}/status": "shows one's own accounts elsewhere",
  "GET /api/accounts/{provider}/authorize": "leads to the provider of an account",
  "GET /api/accounts/{provider}/callback": "comes from the provider of an account",
  "GET /api/accounts/{provider}/status": "shows one's own accounts elsewhere",
  "POST /api/accounts/{provider}/authorize": "leads to the provider of an account",
  "POST /api/accounts/found": "needs who was found at a provider",
  "POST /api/accounts/confirm": "needs who was found at a provider; connects them",
  "GET /api/accounts": "shows one's own accounts elsewhere",
  "POST /api/accounts": "connects an account; its provider is asked, not the index",
  "DELETE /api/accounts/{id}": "ends an account of one's own",
  "POST /api/mcp-servers": "adds a server; it is asked, not the index",
  "PATCH /api/mcp-servers/{id}": "changes a server",
  "DELETE /api/mcp-servers/{id}": "deletes a server",
  "POST /api/mcp-servers/connection-tests": "asks a server, not the index",
  "GET /api/mcp-servers/{id}/tools": "asks a server, not the index",
  "POST /api/mcp-servers/{id}/mapping/previews": "asks a server, not the index",
  "PUT /api/mcp-servers/{id}/mapping": "asks a server, not the index",
  "POST /api/mcp-servers/{id}/connections": "connects; the server is asked, not the index",
  "POST /api/mcp-servers/intents/read": "needs a link that works once",
  "POST /api/mcp-servers/intents/open": "needs a link that works once",
  "GET /api/mcp-servers/callback": "needs a way to a provider; leads to a page",
  "GET /api/mcp-servers/callback/{client}": "needs a way to a provider; leads to a page",
  "POST /api/mcp-servers/intents/found": "needs who was found at a provider",
  "POST /api/mcp-servers/intents/confirm": "needs who was found at a provider; connects them",
  "GET /oauth/clients/mcp.json": "is the same for everyone",
  "GET /api/profile/identities": "needs a session; shows one's own identities elsewhere",
  "POST /api/sso/link": "leads to the identity provider",
  "POST /oauth/consent/{uid}/decision": "needs a request of a client; decides it",
  "POST /oauth/device/request": "needs a device's code",
  "POST /oauth/device/decision": "needs a device's code; decides it",
  "POST /api/local-roots": "names a folder of the host",
  "DELETE /api/local-roots/{id}": "forgets a folder of the host",
  "POST /api/webhooks": "adds an event target; reads no items",
  "POST /api/connectors": "makes a connector; its provider is asked, not the index",
  "POST /api/connectors/browse": "shows the provider's places, not items",
  "POST /hooks/{providerId}": "needs the signature of the app; reads no items",
  "POST /hooks/{providerId}/{connectorId}": "needs the signature of the app; reads no items",
  "POST /api/connectors/{id}/items": "needs the connector's own key",
  "DELETE /api/connectors/{id}/items/{externalId}": "needs the connector's own key",
  "POST /api/connectors/{id}/documents": "needs the connector's own key",
  "POST /api/connectors/{id}/uploads": "needs the connector's own key",
  "GET /api/connectors/{id}/uploads/{uploadId}": "needs the connector's own key",
  "POST /api/connectors/{id}/uploads/{uploadId}/end": "needs the connector's own key",
};

const get = (path: string, query: Record<string, string | number | undefined> = {}): Asked => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return { method: "GET", path: pairs.length > 0 ? `${path}?${pairs.join("&")}` : path };
};

const maybe = <T>(random: Random, p: number, make: () => T): T | undefined => (random.chance(p) ? make() : undefined);

/** On somebody else's or nobody's connector an act is refused as if it were not there; it changes nothing. */
const refused =
  (method: string, path: string, body?: unknown): ((words: Vocabulary) => Asked) =>
  ({ random, hiddenConnectorIds }) => ({
    method,
    path: path.replace("{id}", random.pick(hiddenConnectorIds)).replace("{syncId}", idFor("sync", "nowhere")),
    ...(body !== undefined && { body }),
  });

/** An event target that nobody has: what one sends is looked at by tests of its own. */
const nowhere = (method: string, tail: string, body?: unknown) => (): Asked => ({
  method,
  path: `/api/webhooks/${idFor("eventTarget", "nowhere")}${tail}`,
  ...(body !== undefined && { body }),
});

const plain =
  (path: string): ((words: Vocabulary) => Asked) =>
  () =>
    get(path);

/** A link that nobody made: one text for every reason, whatever there is. */
const unknownLink =
  (path: string): ((words: Vocabulary) => Asked) =>
  ({ random, words }) => ({ method: "POST", path, body: { token: random.pick(words) } });

const GENERATORS: Readonly<Record<string, (words: Vocabulary) => Asked>> = {
  "GET /healthz": plain("/healthz"),
  "GET /readyz": plain("/readyz"),
  "GET /api/onboarding": plain("/api/onboarding"),
  "POST /api/invitations/check": unknownLink("/api/invitations/check"),
  "POST /api/password-reset/check": unknownLink("/api/password-reset/check"),
  "GET /api/session": plain("/api/session"),
  "GET /api/sessions": plain("/api/sessions"),
  "GET /api/api-tokens": plain("/api/api-tokens"),
  "DELETE /api/api-tokens/{id}": () => ({ method: "DELETE", path: `/api/api-tokens/${idFor("token", "nowhere")}` }),
  "GET /api/audit": plain("/api/audit"),
  "GET /api/audit/check": plain("/api/audit/check"),
  "GET /api/audit/export": plain("/api/audit/export"),
  "GET /api/audit/reads": ({ random }) =>
    get("/api/audit/reads", { userId: maybe(random, 0.3, () => userIdOf(random.pick(PERSONAS))) }),
  "GET /api/grants": plain("/api/grants"),
  "DELETE /api/grants/{id}": () => ({ method: "DELETE", path: `/api/grants/${idFor("grant", "nowhere")}` }),
  "GET /api/workspaces": plain("/api/workspaces"),
  "GET /oauth/consent/{uid}/request": plain("/oauth/consent/nowhere/request"),
  "GET /api/groups": plain("/api/groups"),
  "GET /api/groups/{id}": () => get(`/api/groups/${idFor("group", "nowhere")}`),
  "GET /api/local-roots": plain("/api/local-roots"),
  "GET /api/workspace": plain("/api/workspace"),
  "GET /api/workspace/members": plain("/api/workspace/members"),
  "GET /api/workspace/members/{id}": ({ random }) => get(`/api/workspace/members/${userIdOf(random.pick(PERSONAS))}`),
  "GET /api/workspace/invitations": plain("/api/workspace/invitations"),

  "GET /api/webhooks": plain("/api/webhooks"),
  "GET /api/webhooks/{id}": nowhere("GET", ""),
  "PATCH /api/webhooks/{id}": nowhere("PATCH", "", { state: "paused" }),
  "DELETE /api/webhooks/{id}": nowhere("DELETE", ""),
  "POST /api/webhooks/{id}/rotate-secret": nowhere("POST", "/rotate-secret", {}),
  "POST /api/webhooks/{id}/test": nowhere("POST", "/test"),
  "GET /api/webhooks/{id}/deliveries": nowhere("GET", "/deliveries"),
  "POST /api/webhooks/{id}/deliveries/{deliveryId}/replay": nowhere(
    "POST",
    `/deliveries/${idFor("delivery", "nowhere")}/replay`,
  ),
  "POST /api/webhooks/{id}/replay": nowhere("POST", "/replay", { since: "2026-01-01T00:00:00.000Z" }),

  "GET /api/mcp-servers": plain("/api/mcp-servers"),
  "GET /api/mcp-servers/{id}/health": ofServer("/health"),
  "GET /api/mcp-servers/{id}/apps": ofServer("/apps"),
  "GET /api/mcp-servers/{id}/connections": ofServer("/connections"),
  "POST /api/mcp-servers/{id}/connection-tests": ({ random, serverIds, hiddenConnectionIds }) => ({
    method: "POST",
    path: `/api/mcp-servers/${random.pick(serverIds)}/connection-tests`,
    body: { connectionId: random.pick(hiddenConnectionIds) },
  }),
  "POST /api/mcp-servers/{id}/connections/intents": ({ random, serverIds, hiddenConnectionIds }) => ({
    method: "POST",
    path: `/api/mcp-servers/${random.pick(serverIds)}/connections/intents`,
    body: { app: "notes", reconnect: random.pick(hiddenConnectionIds) },
  }),
  "DELETE /api/mcp-servers/{id}/connections/{connectionId}": ofHiddenConnection("DELETE", ""),
  "PATCH /api/mcp-servers/{id}/connections/{connectionId}/access": ofHiddenConnection("PATCH", "/access", {
    visibility: "workspace",
  }),
  "POST /api/mcp-servers/{id}/connections/{connectionId}/agreement": ofHiddenConnection("POST", "/agreement", {
    agreement: "abc",
  }),

  "GET /api/connectors": connectorList("/api/connectors"),
  "GET /api/connectors/mine": connectorList("/api/connectors/mine"),
  "GET /api/connectors/sources": plain("/api/connectors/sources"),
  "GET /api/connectors/progress": plain("/api/connectors/progress"),
  "GET /api/connectors/{id}": ofConnector(""),
  "GET /api/connectors/{id}/syncs": ofConnector("/syncs"),
  "GET /api/connectors/{id}/syncs/{syncId}": ({ random, connectorIds, syncIdsOf: runsOf }) => {
    const connectorId = random.pick(connectorIds);
    const ofWhich = random.chance(0.8) ? connectorId : random.pick(connectorIds);
    return get(`/api/connectors/${connectorId}/syncs/${random.pick(runsOf(ofWhich))}`);
  },
  "GET /api/connectors/{id}/removals": ofConnector("/removals"),
  "GET /api/connectors/{id}/removed": ofConnector("/removed"),
  "GET /api/connectors/{id}/people": ofConnector("/people"),
  "PUT /api/connectors/{id}/people": refused("PUT", "/api/connectors/{id}/people", { links: [] }),
  "PATCH /api/connectors/{id}": refused("PATCH", "/api/connectors/{id}", { name: "Mine" }),
  "DELETE /api/connectors/{id}": refused("DELETE", "/api/connectors/{id}"),
  "PATCH /api/connectors/{id}/scope": refused("PATCH", "/api/connectors/{id}/scope", { include: [], exclude: [] }),
  "POST /api/connectors/{id}/browse": refused("POST", "/api/connectors/{id}/browse", {}),
  "POST /api/connectors/{id}/syncs": refused("POST", "/api/connectors/{id}/syncs", {}),
  "POST /api/connectors/{id}/syncs/{syncId}/cancel": refused("POST", "/api/connectors/{id}/syncs/{syncId}/cancel"),
  "POST /api/connectors/{id}/pause": refused("POST", "/api/connectors/{id}/pause"),
  "POST /api/connectors/{id}/resume": refused("POST", "/api/connectors/{id}/resume"),
  "POST /api/connectors/{id}/removals/approve": refused("POST", "/api/connectors/{id}/removals/approve", {}),
  "POST /api/connectors/files/{fileId}/restore": ({ random, kbIds }) => ({
    method: "POST",
    path: `/api/connectors/files/${random.pick(kbIds)}/restore`,
  }),
  "POST /api/connectors/{id}/removals/reject": refused("POST", "/api/connectors/{id}/removals/reject", {}),
  "POST /api/connectors/{id}/rotate-key": refused("POST", "/api/connectors/{id}/rotate-key", {}),
  "GET /api/connectors/{id}/webhook": refused("GET", "/api/connectors/{id}/webhook"),
  "POST /api/connectors/{id}/webhook": refused("POST", "/api/connectors/{id}/webhook"),

  "GET /api/connectors/all-files": (words) =>
    get("/api/connectors/all-files", {
      ...fileFilters(words),
      connectorId: maybe(words.random, 0.3, () => words.random.pick(words.connectorIds)),
    }),
  "GET /api/connectors/{id}/files": (words) =>
    get(`/api/connectors/${words.random.pick(words.connectorIds)}/files`, fileFilters(words)),
  "GET /api/connectors/file-counts-by-source": plain("/api/connectors/file-counts-by-source"),
  "GET /api/connectors/files/{fileId}": ({ random, kbIds, names, keys }) => {
    const named = random.chance(0.7) ? random.pick(kbIds) : random.pick([...names, ...keys]);
    return get(`/api/connectors/files/${encodeURIComponent(named)}`);
  },
  "GET /api/connectors/files/{fileId}/content": ({ random, kbIds, words, names, keys }) => {
    const named = random.chance(0.7) ? random.pick(kbIds) : random.pick([...names, ...keys]);
    const path = `/api/connectors/files/${encodeURIComponent(named)}/content`;
    if (random.chance(0.2)) return get(path, { find: random.pick(words) });
    if (random.chance(0.1)) return get(path, { original: "true" });
    const range = {
      offset: maybe(random, 0.3, () => random.int(400)),
      limit: maybe(random, 0.3, () => 1 + random.int(90)),
      section: maybe(random, 0.2, () => random.pick([...words, "L2"])),
    };
    return { ...get(path, range), headers: { accept: random.pick(["text/plain", "text/markdown", "*/*"]) } };
  },
  "GET /api/connectors/files/{fileId}/access": ({ random, kbIds }) =>
    get(`/api/connectors/files/${random.pick(kbIds)}/access`, {
      userId: maybe(random, 0.2, () => userIdOf(random.pick(PERSONAS))),
    }),

  "GET /api/connectors/search": (words) =>
    get("/api/connectors/search", {
      ...searchArguments(words),
      field: maybe(words.random, 0.25, () => words.random.pick(words.pairs)),
      facets: maybe(words.random, 0.3, () => words.random.pick(["kind", "source", "person", "status", "month"])),
      explain: maybe(words.random, 0.2, () => "true"),
      live: maybe(words.random, 0.3, () => "true"),
    }),
  "GET /api/entities": ({ random, words, people }) =>
    get("/api/entities", {
      q: random.pick([...words, ...people]),
      type: maybe(random, 0.3, () => random.pick(["person", "label", "folder"])),
    }),
  "GET /api/entities/{id}": ({ random, entityIds }) => get(`/api/entities/${random.pick(entityIds)}`),

  "tool kb_search": (words) =>
    call("kb_search", { ...searchArguments(words), live: maybe(words.random, 0.3, () => true) }),
  "tool kb_search_entities": ({ random, words, people }) =>
    call("kb_search_entities", {
      query: random.pick([...words, ...people]),
      type: maybe(random, 0.3, () => random.pick(["person", "label", "folder"])),
    }),
  "tool kb_get_entity_context": ({ random, entityIds, people }) =>
    call("kb_get_entity_context", { entity: random.pick([...entityIds, ...people]) }),
  "tool kb_get_file_content": ({ random, kbIds, urls, keys, names, words }) =>
    call("kb_get_file_content", {
      kbId:
        (random.chance(0.6) ? random.pick(kbIds) : random.pick([...urls, ...keys, ...names])) +
        (random.chance(0.15) ? `#${random.pick(words)}` : ""),
      find: maybe(random, 0.3, () => random.pick(words)),
      offset: maybe(random, 0.2, () => random.int(300)),
    }),
};

function connectorList(path: string): (words: Vocabulary) => Asked {
  return ({ random, words }) =>
    get(path, {
      providerId: maybe(random, 0.2, () => random.pick(["push", "filesystem", "mirror"])),
      q: maybe(random, 0.2, () => random.pick(["secret", "vault", "docs", "dark", "wiki", random.pick(words)])),
    });
}

function ofConnector(tail: string): (words: Vocabulary) => Asked {
  return ({ random, connectorIds }) => get(`/api/connectors/${random.pick(connectorIds)}${tail}`);
}

function ofServer(tail: string): (words: Vocabulary) => Asked {
  return ({ random, serverIds }) => get(`/api/mcp-servers/${random.pick(serverIds)}${tail}`);
}

/** On a connection that the asker may not know of, or that is not there. */
function ofHiddenConnection(method: string, tail: string, body?: unknown): (words: Vocabulary) => Asked {
  return ({ random, serverIds, hiddenConnectionIds }) => ({
    method,
    path: `/api/mcp-servers/${random.pick(serverIds)}/connections/${random.pick(hiddenConnectionIds)}${tail}`,
    ...(body !== undefined && { body }),
  });
}

function fileFilters({ random, sources, words }: Vocabulary) {
  return {
    kind: maybe(random, 0.2, () => random.pick(["task", "file", "page", "message"])),
    source: maybe(random, 0.2, () => random.pick(sources)),
    providerId: maybe(random, 0.2, () => random.pick(["push", "filesystem", "mirror", "github"])),
    q: maybe(random, 0.3, () => random.pick(words)),
    sort: maybe(random, 0.5, () => random.pick(["updatedAt", "title"])),
    limit: maybe(random, 0.7, () => 1 + random.int(40)),
  };
}

function searchArguments({ random, words, sources, people, pairs, keys, urls, entityIds }: Vocabulary) {
  const word = () => random.pick(words);
  const query = random.pick([
    () => word(),
    () => `${word()} ${word()}`,
    () => `${word()} ${word()} ${word()} ${word()}`,
    () => `"${word()} ${word()}"`,
    () => `${word().slice(0, 4)}*`,
    () => `${word()} -${word()}`,
    () => random.pick([...keys, ...urls]),
    () => `${random.chance(0.5) ? word() : ""} ${random.pick(pairs)}`,
    () => random.pick(pairs),
    () => "",
  ])();
  return {
    query,
    kind: maybe(random, 0.2, () => random.pick(["task", "file", "page", "message"])),
    status: maybe(random, 0.1, () => random.pick(["open", "done"])),
    assignee: maybe(random, 0.1, () => random.pick([...people, ...entityIds])),
    people: maybe(random, 0.1, () => random.pick([...people, ...entityIds])),
    source: maybe(random, 0.2, () => random.pick([...sources, ...entityIds])),
    after: maybe(random, 0.1, () => "30d"),
    sortBy: maybe(random, 0.3, () => random.pick(["relevance", "recency", "due"])),
    groupBy: maybe(random, 0.15, () => random.pick(["kind", "source", "person", "status", "month"])),
    limit: maybe(random, 0.6, () => 1 + random.int(20)),
    detail: maybe(random, 0.3, () => random.pick(["concise", "detailed"])),
  };
}

function call(name: string, args: Record<string, unknown>): Asked {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
  return {
    method: "POST",
    path: "/mcp",
    headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-03-26" },
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } },
  };
}
