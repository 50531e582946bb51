/** The command line and the contract: what the compiler refuses, and what goes past it. */
import { readdirSync, readFileSync } from "node:fs";
import { test } from "vitest";
import type { Api } from "#cli/calls/api.ts";
import { route } from "#cli/line/command.ts";
import { CONNECTOR, GROUP, ITEM, MEMBER } from "#cli/records/find.ts";
import { callCommand, listCommand, remoteCommand, removeCommand } from "#cli/calls/remote-command.ts";
import { day, flexible, formatted, optional } from "#cli/terminal/table.ts";
import { changes } from "#cli/line/values.ts";
import { kb, makeWorld } from "./fakes.ts";

/** Never called. The type check reads it, and fails when one of these lines has no error. */
export function refusedInData(): void {
  const data = { summary: "", examples: ["kb"] } as const;
  const list = { ...data, empty: "" };
  listCommand("/api/groups", "groups", { ...list, columns: { id: "id", name: flexible("name") } });
  // @ts-expect-error -- a plural that the list does not have
  listCommand("/api/groups", "teams", { ...list, columns: {} });
  // @ts-expect-error -- a list that has no pages
  listCommand("/api/local-roots", "roots", { ...list, columns: {} });
  // @ts-expect-error -- a field that the record does not have
  listCommand("/api/groups", "groups", { ...list, columns: { id: "groupId" } });
  // @ts-expect-error -- the same in a column that shrinks
  listCommand("/api/groups", "groups", { ...list, columns: { id: flexible("groupId") } });
  // @ts-expect-error -- the same in another form
  listCommand("/api/groups", "groups", { ...list, columns: { id: optional(formatted(day, "madeAt")) } });
  // @ts-expect-error -- a form that the field does not take
  listCommand("/api/groups", "groups", { ...list, columns: { members: formatted(day, "memberIds") } });
  callCommand("post", "/api/connectors/{id}/pause", { ...data, of: CONNECTOR, key: "connector" }, () => "");
  // @ts-expect-error -- a key that the answer does not have
  callCommand("post", "/api/connectors/{id}/pause", { ...data, of: CONNECTOR, key: "source" }, () => "");
  // @ts-expect-error -- a path with braces, and nothing to fill them
  callCommand("post", "/api/connectors/{id}/pause", data, () => "");
  // @ts-expect-error -- a thing that has other values
  callCommand("post", "/api/connectors/{id}/pause", { ...data, of: ITEM }, () => "");
  // @ts-expect-error -- a call that needs a body
  callCommand("patch", "/api/workspace/members/{id}", { ...data, of: MEMBER }, () => "");
  // @ts-expect-error -- a field that the answer does not have
  callCommand("get", "/api/workspace", data, ({ group }) => group.name);
  // @ts-expect-error -- a field that the thing does not have
  removeCommand("/api/groups/{id}", { ...data, of: GROUP, done: ({ title }) => title });
  // @ts-expect-error -- a path that can't be removed
  removeCommand("/api/workspace", { ...data, of: GROUP, done: () => "" });
  const call = route("patch", "/api/workspace/members/{id}", "member");
  remoteCommand({ ...data, of: MEMBER, call }, async ({ send }) => {
    await send({ body: { role: "admin" } });
    // @ts-expect-error -- a word that the body does not take
    await send({ body: { role: "king" } });
    // @ts-expect-error -- a field that the body does not have
    await send({ body: { role: "admin", name: "Ana" } });
    // @ts-expect-error -- without the body
    await send();
  });
  remoteCommand({ ...data, call }, async ({ send }) => {
    // @ts-expect-error -- without what the path has in braces
    await send({ body: { role: "admin" } });
  });
  remoteCommand({ ...data, call: route("patch", "/api/groups/{id}"), of: GROUP }, async ({ send }) => {
    // @ts-expect-error -- a field that the body does not have, in a body that is checked for changes
    await send({ body: changes("kb groups --help", { title: "Team" }) });
  });
}

/** Never called. The type check reads it, and fails when one of these lines has no error. */
export async function refusedByTheCompiler({ get, post, list, open }: Api): Promise<void> {
  const params = { path: { id: "con_2222222222222222" } };
  await post("/api/connectors/{id}/rotate-key", { params, body: { overlapSeconds: undefined } });
  // @ts-expect-error -- a path that is none
  await post("/api/connectors/{id}/new-key", { params });
  // @ts-expect-error -- a method that the path does not take
  await get("/api/connectors/{id}/rotate-key", { params });
  // @ts-expect-error -- without what the path has in braces
  await post("/api/connectors/{id}/rotate-key");
  // @ts-expect-error -- a field that the body does not have
  await post("/api/connectors/{id}/rotate-key", { params, body: { overlap: 60 } });
  // @ts-expect-error -- the same beside one that it has
  await post("/api/api-tokens", { body: { name: "laptop", days: 30 } });
  // @ts-expect-error -- a parameter that the query does not have
  await get("/api/connectors/search", { params: { query: { query: "plan", dateOf: "due" } } });
  // @ts-expect-error -- the same of an answer that is read as a stream
  await open.get("/api/audit/export", { params: { query: { from: "2026-01-31" } } });
  // @ts-expect-error -- a key that the answer does not have
  await get("/api/api-tokens").then((answer) => answer.apiTokens);
  // @ts-expect-error -- a plural that the list does not have
  await list("/api/groups", "teams");
  // @ts-expect-error -- a list that has no pages
  await list("/api/local-roots", "roots");
}

test("only these call a path that no contract checks", ({ expect }) => {
  const files = readdirSync("src/cli", { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  const withText = (pattern: RegExp) =>
    files.filter((path) => pattern.test(readFileSync(`src/cli/${path}`, "utf8"))).toSorted();
  expect(withText(/\.send\(/)).toEqual(["commands/api.ts"]);
  expect(withText(/\bapi\.call\(/)).toEqual(["calls/remote-command.ts"]);
  // Below the client; the process's own; `/oauth/*`; whether a server is up.
  expect(withText(/\bfetch\(/)).toEqual(["calls/api.ts", "login/tokens.ts", "quickstart/server.ts"]);
});

test("an answer that breaks off is a failure of the network", async ({ expect }) => {
  const cut = new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) });
  const world = makeWorld({ real: { fetch: async () => new Response(cut) } });
  const run = await kb(world, "tokens", "list");
  expect([run.code, run.stderr]).toEqual([7, "kb: The answer ended early.\n"]);
});

test("an id stays inside its segment of the path", async ({ expect }) => {
  const world = makeWorld({ routes: { "GET /api/entities/..%2Fsession%3Fx": { body: {} } } });
  await kb(world, "entities", "show", "../session?x");
  expect(world.sent.map(({ url }) => url)).toEqual(["https://kb.test/api/entities/..%2Fsession%3Fx"]);
  const run = await kb(world, "entities", "show", "..");
  expect([run.code, run.stderr]).toEqual([2, 'kb: ".." is not an ID.\n']);
});

test("a parameter given to kb api takes the place of the path's own", async ({ expect }) => {
  const world = makeWorld({ routes: { "GET /api/connectors": { body: {} } } });
  await kb(world, "api", "GET", "/api/connectors?limit=3&q=docs", "-f", "limit=5");
  expect(world.sent.map(({ url }) => url)).toEqual(["https://kb.test/api/connectors?q=docs&limit=5"]);
});

test("connectors sync offers the modes that the server takes", async ({ expect }) => {
  const run = await kb(makeWorld(), "connectors", "sync", "Docs", "--mode", "everything");
  expect([run.code, run.sent]).toEqual([2, []]);
});

test("options that say nothing are not sent", async ({ expect }) => {
  const world = makeWorld({
    routes: {
      "PATCH /api/profile": { body: { user: { id: "usr_1", name: "Ana", email: "a@b.test", createdAt: "" } } },
    },
  });
  await kb(world, "profile", "update", "--name", "Ana");
  expect(world.sent.map(({ body }) => body)).toEqual([{ name: "Ana" }]);
});
