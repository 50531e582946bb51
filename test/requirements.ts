import { test, type TestContext } from "vitest";

/**
 * The contract, sentence by sentence: one id per table row, numbered rule and bullet of its sections 2–9 that says
 * something about behaviour. Tests name the ids they prove through `verifies`; `requirements.test.ts` fails when an id
 * of a finished step has no test. `step` is the step of the roadmap that builds it. A section that is a page of `docs/` is
 * what we promise beyond the contract.
 */
export interface Requirement {
  section: string;
  step: number;
  sentence: string;
}

/** Steps whose requirements must all be proven. */
export const FINISHED_STEPS = 5;

const r = (section: string, step: number, sentence: string): Requirement => ({ section, step, sentence });

export const REQUIREMENTS = {
  // 1 What the service does (the parts that bind)
  "service:one-endpoint": r("1", 1, "Agents reach the index through one public MCP endpoint, POST {base_url}/mcp."),
  "service:json-rpc": r("1", 1, "The endpoint accepts JSON-RPC 2.0 requests."),
  "service:two-methods": r("1", 1, "The endpoint supports tools/list and tools/call."),
  "service:visible-only": r("1", 1, "Results are limited to indexed content that the authenticated user may see."),
  "service:rest-under-api": r("1", 1, "A separate REST surface under /api serves administration and set-up."),
  "service:self-hosted-first-admin": r(
    "1",
    1,
    "In self-hosted mode the first admin account is created during onboarding.",
  ),
  "service:managed-sign-up": r("1", 3, "The managed mode has open self-serve sign-up."),
  "service:setup-sequence": r(
    "1",
    1,
    "Workspace, token shown once, MCP URL, tools/list, tools/call: the set-up sequence works in this order.",
  ),

  // 2.1 Personal access token
  "pat:field-id": r("2.1", 1, "token.id is a string, used in DELETE /api/api-tokens/:id."),
  "pat:field-name": r("2.1", 1, "token.name is the label chosen at creation."),
  "pat:field-prefix": r("2.1", 1, "token.prefix is a short display prefix."),
  "pat:field-created-at": r("2.1", 1, "token.createdAt is a timestamp."),
  "pat:field-last-used-at": r("2.1", 1, "token.lastUsedAt is null when the token has never been used."),
  "pat:field-revoked-at": r("2.1", 1, "token.revokedAt is null while the token is active."),
  "pat:plaintext-prefix": r(
    "2.1",
    1,
    "The plaintext begins with a fixed service-specific prefix followed by a secret part.",
  ),
  "pat:hash-only": r("2.1", 1, "The service stores only a hash of the token and the short display prefix."),
  "pat:plaintext-once": r("2.1", 1, "The plaintext is returned only in the creation response."),

  // 2.2 Tool search result entry
  "entry:kb-id": r("2.2", 1, "A result entry carries kbId."),
  "entry:provider-id": r("2.2", 1, "A result entry carries providerId."),
  "entry:source": r("2.2", 1, "A result entry carries the source of the item."),
  "entry:url": r("2.2", 1, "A result entry carries the URL when available."),
  "entry:snippet": r("2.2", 1, "A result entry carries a summary or snippet."),

  // 2.3 Other resources
  "resource:connector": r("2.3", 1, "The resource connector exists."),
  "resource:provider-server": r("2.3", 8, "The resource provider server exists."),
  "resource:provider-connection": r("2.3", 8, "The resource provider connection exists."),
  "resource:provider-app": r("2.3", 8, "The resource provider app exists."),
  "resource:indexed-file": r("2.3", 1, "The resource indexed file exists."),
  "resource:sync": r("2.3", 1, "The resource sync exists."),
  "resource:connector-api-key": r("2.3", 1, "The resource connector API key exists."),

  // 3 States
  "pat-state:active": r("3", 1, "A token is active while revokedAt is null."),
  "pat-state:revoke": r("3", 1, "DELETE /api/api-tokens/:id moves an active token to revoked and sets revokedAt."),
  "pat-state:revoked-is-final": r("3", 1, "Nothing moves a revoked token back."),
  "pat-state:last-used-records-use": r("3", 1, "lastUsedAt records use of the token."),
  "pat-state:created-active": r("3", 1, "Creation yields an active token."),

  // 4.1 MCP endpoint
  "mcp:header-authorization": r("4.1", 1, "Authorization carries Bearer with a PAT or an OAuth access token."),
  "mcp:header-accept": r("4.1", 1, "Accept is application/json, text/event-stream."),
  "mcp:header-content-type": r("4.1", 1, "Content-Type is application/json."),
  "mcp:header-protocol-version": r("4.1", 1, "Mcp-Protocol-Version is 2025-03-26."),
  "mcp:body-jsonrpc": r("4.1", 1, "jsonrpc is 2.0."),
  "mcp:body-id": r("4.1", 1, "id is a number or a string and comes back unchanged."),
  "mcp:body-method": r("4.1", 1, "method is tools/list or tools/call."),
  "mcp:body-params": r("4.1", 1, "params is required for tools/call."),
  "mcp:unsupported-method": r("4.1 rule 1", 1, "Any method but tools/list and tools/call returns an error."),
  "mcp:non-post-rejected": r("4.1 rule 2", 1, "HTTP verbs other than POST return an error."),
  "mcp:lists-kb-search": r("4.1 rule 3", 1, "tools/list includes kb_search."),
  "mcp:lists-kb-search-entities": r("4.1 rule 3", 1, "tools/list includes kb_search_entities."),
  "mcp:lists-kb-get-entity-context": r("4.1 rule 3", 1, "tools/list includes kb_get_entity_context."),
  "mcp:lists-kb-get-file-content": r("4.1 rule 3", 1, "tools/list includes kb_get_file_content."),
  "mcp:call-params": r("4.1 rule 4", 1, "tools/call carries params.name and params.arguments."),
  "mcp:search-text-results": r(
    "4.1 rule 5",
    1,
    "kb_search returns text results whose entries carry the fields of 2.2.",
  ),
  "mcp:search-nothing-visible": r(
    "4.1 rule 5",
    1,
    "When nothing matches or is visible, no matching entries are returned.",
  ),
  "search-arg:query": r("4.1", 1, "kb_search takes query, the search text."),
  "search-arg:kind": r("4.1", 1, "kb_search takes kind; task is a value."),
  "search-arg:sort-by": r("4.1", 1, "kb_search takes sortBy; recency is a value."),
  "search-arg:limit": r("4.1", 1, "kb_search takes limit, the maximum number of results."),

  // 4.2 OAuth
  "oauth:protected-resource": r(
    "4.2",
    3,
    "GET /.well-known/oauth-protected-resource serves discovery of the resource.",
  ),
  "oauth:authorization-server": r(
    "4.2",
    3,
    "GET /.well-known/oauth-authorization-server serves discovery of the server.",
  ),
  "oauth:register": r("4.2", 3, "POST /oauth/register registers a client."),
  "oauth:authorize-get": r("4.2", 3, "GET /oauth/authorize starts an authorization."),
  "oauth:authorize-post": r("4.2", 3, "POST /oauth/authorize submits an authorization."),
  "oauth:token": r("4.2", 3, "POST /oauth/token issues tokens."),
  "oauth:revoke": r("4.2", 3, "POST /oauth/revoke revokes a token."),
  "oauth:scope": r("4.2", 3, "The supported scope is mcp:read."),

  // 4.3 PAT routes
  "pat-route:list": r("4.3", 1, "GET /api/api-tokens lists the signed-in user's active PATs."),
  "pat-route:list-mcp-url": r("4.3", 1, "The list also returns the MCP URL."),
  "pat-route:create": r("4.3", 1, "POST /api/api-tokens creates a PAT and returns the plaintext once."),
  "pat-route:revoke": r("4.3", 1, "DELETE /api/api-tokens/:id revokes a PAT."),
  "pat-route:create-name-required": r("4.3", 1, "The create body needs name."),
  "pat-route:answer-token": r("4.3", 1, "The create answer carries token with its six fields."),
  "pat-route:answer-plaintext": r("4.3", 1, "The create answer carries plaintext."),
  "pat-route:answer-mcp-url": r("4.3", 1, "The create answer carries mcpUrl."),

  // 4.4 Provider servers
  "server-route:list": r("4.4", 8, "GET /api/mcp-servers"),
  "server-route:create": r("4.4", 8, "POST /api/mcp-servers"),
  "server-route:update": r("4.4", 8, "PATCH /api/mcp-servers/:id"),
  "server-route:delete": r("4.4", 8, "DELETE /api/mcp-servers/:id"),
  "server-route:test-unsaved": r("4.4", 8, "POST /api/mcp-servers/connection-tests"),
  "server-route:test-saved": r("4.4", 8, "POST /api/mcp-servers/:id/connection-tests"),
  "server-route:health": r("4.4", 8, "GET /api/mcp-servers/:id/health"),
  "server-route:apps": r("4.4", 8, "GET /api/mcp-servers/:id/apps"),
  "server-route:connect": r("4.4", 8, "POST /api/mcp-servers/:id/connections"),
  "server-route:intents": r("4.4", 8, "POST /api/mcp-servers/:id/connections/intents"),
  "server-route:connections": r("4.4", 8, "GET /api/mcp-servers/:id/connections"),
  "server-route:disconnect": r("4.4", 8, "DELETE /api/mcp-servers/:id/connections/:connectionId"),
  "server-route:connection-access": r("4.4", 8, "PATCH /api/mcp-servers/:id/connections/:connectionId/access"),

  // 4.5 Connectors
  "connector-route:list": r("4.5", 1, "GET /api/connectors lists connectors."),
  "connector-route:create": r("4.5", 1, "POST /api/connectors creates a connector."),
  "connector-route:mine": r("4.5", 1, "GET /api/connectors/mine lists the connectors of the current user."),
  "connector-route:sources": r("4.5", 1, "GET /api/connectors/sources lists the available sources."),
  "connector-route:all-files": r("4.5", 1, "GET /api/connectors/all-files lists indexed files across connectors."),
  "connector-route:file-counts": r(
    "4.5",
    1,
    "GET /api/connectors/file-counts-by-source counts files grouped by source.",
  ),
  "connector-route:search": r("4.5", 1, "GET /api/connectors/search searches indexed files."),
  "connector-route:progress": r("4.5", 1, "GET /api/connectors/progress tells the sync progress."),
  "connector-route:browse": r("4.5", 1, "POST /api/connectors/browse browses a source before connecting."),
  "connector-route:content": r(
    "4.5",
    1,
    "GET /api/connectors/files/:fileId/content gives the content of an indexed file.",
  ),
  "connector-route:get": r("4.5", 1, "GET /api/connectors/:id gets one connector."),
  "connector-route:files": r("4.5", 1, "GET /api/connectors/:id/files lists the files of one connector."),
  "connector-route:sync": r("4.5", 1, "POST /api/connectors/:id/syncs triggers a sync."),
  "connector-route:scope": r("4.5", 1, "PATCH /api/connectors/:id/scope changes a connector's scope."),
  "connector-route:rotate-key": r("4.5", 1, "POST /api/connectors/:id/rotate-key rotates a connector's API key."),
  "connector-route:delete": r("4.5", 1, "DELETE /api/connectors/:id deletes a connector."),

  // 4.6 Account connect
  "account-route:authorize": r("4.6", 7, "GET /api/oauth/<provider>/authorize starts the account connection."),
  "account-route:callback": r("4.6", 7, "GET /api/oauth/<provider>/callback is the provider's callback."),
  "account-route:status": r("4.6", 7, "GET /api/oauth/<provider>/status tells the connection status."),
  "account-route:three-providers": r("4.6", 7, "There are three fixed account providers."),
  "account-route:distinct": r("4.6", 7, "These routes are distinct from the OAuth routes for MCP clients."),

  // 5 Authentication
  "auth:mcp-needs-bearer": r("5 rule 1", 1, "POST /mcp requires Authorization: Bearer."),
  "auth:mcp-takes-pat": r("5 rule 1", 1, "The bearer may be a PAT."),
  "auth:mcp-takes-oauth": r("5 rule 1", 3, "The bearer may be an OAuth access token."),
  "auth:pat-by-signed-in-user": r("5 rule 2", 1, "A PAT is created by a signed-in user with a token name."),
  "auth:pat-settings-page": r("5 rule 2", 3, "A PAT is created and revoked in Settings, under MCP access."),
  "auth:scope": r("5 rule 3", 1, "The scope is mcp:read."),
  "auth:visible-only": r("5 rule 4", 1, "Search results are restricted to what the authenticated user may see."),
  "auth:tokens-act-for-user": r("5 rule 5", 1, "The /api/api-tokens routes act for the signed-in user."),

  // 7 Errors, 8 Limits, 9 Versioning
  "errors:unsupported-method": r("7", 1, "An unsupported MCP method returns an error."),
  "errors:non-post": r("7", 1, "A non-POST verb on /mcp returns an error."),
  "limits:search-limit": r("8", 1, "limit caps the number of results of kb_search."),
  "versioning:header": r("9", 1, "MCP requests carry Mcp-Protocol-Version 2025-03-26."),

  // Beyond the contract
  "fields:typed": r("docs/fields.md", 2, "Front matter, document properties and source fields are typed fields."),
  "fields:source-wins": r("docs/fields.md", 2, "A document's claims never overwrite a source's own fields."),
  "fields:filter": r("docs/fields.md", 2, "key:value filters by a field that something visible has."),
  "fields:shown": r("docs/fields.md", 2, "Hits show the fields of their items."),
  "fields:hidden": r("docs/fields.md", 2, "A field that only hidden items have reads like one that nothing has."),
  "vault:opens-own": r("docs/self-hosting.md", 2, "What the vault sealed it opens again, and nothing else."),
  "vault:row-bound": r("docs/self-hosting.md", 2, "A sealed secret opens for its own row alone."),
  "vault:keys-change": r(
    "docs/self-hosting.md",
    2,
    "Keys can be changed: the first seals, every one opens, and old secrets are sealed again when used.",
  ),
  "vault:shows-nothing": r("docs/self-hosting.md", 2, "Neither a sealed secret nor an error shows a secret or a key."),
  "credentials:write-only": r(
    "docs/self-hosting.md",
    2,
    "A connector's credentials reach its source alone and come back over no route, log or error.",
  ),
  "credentials:origin-bound": r(
    "docs/self-hosting.md",
    2,
    "Credentials stay with the origin that they were given for.",
  ),
  "credentials:end": r("docs/self-hosting.md", 2, "Credentials go with their connector at once."),
  "ssrf:judged-address": r(
    "docs/self-hosting.md",
    2,
    "Requests to sources go to the address that was judged, without a second look-up.",
  ),
  "ssrf:private-refused": r(
    "docs/self-hosting.md",
    2,
    "No connection is opened to a private address, however it is written.",
  ),
  "ssrf:redirects": r("docs/self-hosting.md", 2, "A redirect takes credentials to no other origin."),
  "ssrf:tells-nothing": r("docs/self-hosting.md", 2, "A refusal tells nothing about the address behind a name."),
  "git:own-mirror": r(
    "docs/sources/git.md",
    2,
    "git runs in a mirror of our own alone: nothing of a repository is ever run.",
  ),
  "git:no-way-out": r(
    "docs/sources/git.md",
    2,
    "Nothing leads out of a repository: no link, no pointer to another one.",
  ),
  "git:true-objects": r("docs/sources/git.md", 2, "No other text passes under an object's name."),
  "git:allowed-roots": r(
    "docs/sources/git.md",
    2,
    "Repositories of the server are read inside the allowed folders alone, and never where strangers own workspaces.",
  ),
  "git:config-runs-nothing": r(
    "docs/sources/git.md",
    2,
    "No configuration of a connector starts a program or reaches this machine.",
  ),
  "push:resumable": r("docs/sources/push.md", 2, "A push says which lines are stored, so it can go on after a break."),
  "push:idempotent": r("docs/sources/push.md", 2, "Sending a line or a document again changes nothing."),
  "push:whole-set": r(
    "docs/sources/push.md",
    2,
    "A whole set removes at its end what was not sent, and a half one removes nothing.",
  ),
  "push:set-held": r("docs/sources/push.md", 2, "Suspiciously many removals of a set are held for approval."),
  "push:people": r(
    "docs/sources/push.md",
    2,
    "A person whom a push puts into a group reads its items from the next request on.",
  ),
  "push:authority": r("docs/sources/push.md", 2, "A push speaks of nothing that is not its own."),
  "push:key-overlap": r("docs/sources/push.md", 2, "A rotated key works on as long as was said, then its pushes end."),
  "push:parts": r(
    "docs/sources/push.md",
    2,
    "The files inside a pushed document are items of their own, as of a synced one.",
  ),
  "push:parts-access": r(
    "docs/sources/push.md",
    2,
    "The files inside a pushed document are open to anyone who may read the document, and no one else.",
  ),
  "push:parts-in-sets": r(
    "docs/sources/push.md",
    2,
    "A set that names a document keeps the files inside it; one that does not takes them along.",
  ),
  "extract:bytes-decide": r("docs/content.md", 2, "The bytes decide what a file is, not its name."),
  "extract:always-an-answer": r(
    "docs/content.md",
    2,
    "Whatever the bytes are, a file ends in clean text or in a reason.",
  ),
  "extract:no-text-still-found": r("docs/content.md", 2, "An item without text is found by title, path and labels."),
  "extract:jailed": r(
    "docs/content.md",
    2,
    "Each file is read in a process without environment, files, programs or network.",
  ),
  "extract:workspaces-apart": r("docs/content.md", 2, "No process sees the files of two workspaces."),
  "extract:parts-access": r("docs/content.md", 2, "A file inside a file follows its access in the same transaction."),
  "sections:named": r(
    "docs/content.md",
    2,
    "A hit names the section that holds its match and the address of that very place.",
  ),
  "sections:read-alone": r("docs/content.md", 2, "A section is read alone by its name, path, anchor, line or address."),
  "sections:unknown": r("docs/content.md", 2, "An unknown section is an error that names those there are."),
  "secrets:masked": r(
    "docs/content.md",
    2,
    "Secrets of known formats are taken out before a text is stored: they are found, listed, read and kept nowhere.",
  ),
  "secrets:harmless-stays": r("docs/content.md", 2, "Text that only looks a little like a secret stays."),
  "secrets:setting": r(
    "docs/content.md",
    2,
    "An admin may have secrets indexed, and taken out again from what is stored.",
  ),
  "watch:changes-soon": r(
    "docs/sources/filesystem.md",
    2,
    "While the server runs a change shows without anyone asking for a sync.",
  ),
  "sync:killed-anywhere": r(
    "docs/architecture.md",
    2,
    "A run that is killed anywhere and run again ends in the same state and tells the same counts.",
  ),
} as const satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof REQUIREMENTS;

/**
 * A test that proves requirements of the contract, once it has passed: `proof.ts` counts those. The ids stand first, so
 * that `requirements.test.ts` can read them.
 * An unknown id is a type error, and throws.
 */
export function verifies(
  ids: RequirementId | readonly RequirementId[],
  title: string,
  body: (context: TestContext) => void | Promise<void>,
): void {
  for (const id of typeof ids === "string" ? [ids] : ids) {
    if (!(id in REQUIREMENTS)) throw new Error(`"${id}" is not a requirement of test/requirements.ts.`);
  }
  test(title, async (context) => {
    context.task.meta.requirements = [ids].flat();
    await body(context);
  });
}
