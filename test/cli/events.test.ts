import { test } from "vitest";
import type { Deps } from "#cli/host/deps.ts";
import { makeEventServer, makeReceiver } from "../server/events/server.ts";
import { kb, makeWorld } from "./fakes.ts";

/** A command line of an admin, and a receiver that the server may reach. */
async function makeAdmin() {
  const receiver = await makeReceiver();
  const server = await makeEventServer([receiver.host]);
  const fetch: Deps["fetch"] = async (url, init) =>
    server.app.request(String(url), init, { incoming: { socket: { remoteAddress: "127.0.0.1" } } });
  const token = await server.token(server.owner, ["kb:api", "kb:admin"]);
  const env = { KB_URL: server.settings.baseUrl, KB_TOKEN: token };
  const run = (...argv: string[]) =>
    kb(makeWorld({ env, real: { fetch }, now: server.clock.now() }), "events", ...argv);
  return { receiver, server, run };
}

test("an admin adds, tests, pauses, replays, rotates and removes a target", async ({ expect }) => {
  const { receiver, server, run } = await makeAdmin();
  const added = await run("add", receiver.url, "--type", "connection.active");
  expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^whsec_\S+\n$/) });
  expect(added.stderr).toContain("shown only once");
  expect((await run("list")).stdout).toContain(receiver.url);
  expect(await run("test", receiver.host)).toMatchObject({ code: 0, stdout: "delivered (HTTP 204)\n" });
  receiver.answer(() => ({ status: 500 }));
  expect(await run("test", receiver.url)).toMatchObject({ code: 1, stdout: "failed (server_error, HTTP 500)\n" });
  receiver.answer(() => ({ status: 204 }));
  expect((await run("pause", receiver.url)).stderr).toContain("is paused");
  await server.emit();
  await server.send();
  expect((await run("show", receiver.url)).stdout).toMatch(/state\s+paused\nwaiting\s+1/);
  expect((await run("resume", receiver.url)).code).toBe(0);
  await server.send();
  const { deliveries } = JSON.parse((await run("deliveries", receiver.url, "--state", "delivered", "--json")).stdout);
  expect(deliveries.map(({ type }: { type: string }) => type)).toEqual(["connection.active", "ping"]);
  expect((await run("replay", receiver.url, deliveries[0].id)).stderr).toContain(deliveries[0].eventId);
  await server.send();
  expect((await run("replay", receiver.url, "--since", "2h")).stderr).toContain("1 event to");
  expect((await run("replay", receiver.url, "--since", "2h", "--failed")).stderr).toContain("0 events to");
  expect((await run("replay", receiver.url)).code).toBe(2);
  const rotated = await run("rotate-secret", receiver.url, "--overlap", "1h");
  expect(rotated.stdout).toMatch(/^whsec_\S+\n$/);
  expect(rotated.stdout).not.toBe(added.stdout);
  expect(rotated.stderr).toContain("both secrets until");
  const types = ["--type", "sync.failed", "--type", "removal.held"];
  expect((await run("update", receiver.url, ...types)).code).toBe(0);
  expect((await run("show", receiver.url)).stdout).toContain("sync.failed, removal.held");
  expect((await run("update", receiver.url)).code).toBe(2);
  expect((await run("remove", receiver.url, "--yes")).code).toBe(0);
  expect((await run("show", receiver.url)).code).toBe(3);
});

test("the types need no server", async ({ expect }) => {
  const { code, stdout } = await kb(makeWorld({ env: {} }), "events", "types");
  expect(code).toBe(0);
  expect(stdout).toContain("removal.held\ta source removes so many items");
});
