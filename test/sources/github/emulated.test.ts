import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createEmulator } from "emulate";
import { expect, onTestFinished, test } from "vitest";
import { type KitFixture, contextOf } from "../../kit/fixture.ts";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { makeGithubSource } from "#sources/github/index.ts";
import { places } from "./fixture.ts";

const app = {
  app_id: 7,
  slug: "kb",
  name: "kb",
  permissions: { issues: "write", metadata: "read", pull_requests: "write", contents: "write" },
};

/** What the emulator lacks: addresses by the id of a repository, and comments of all issues at once. */
async function startFront(emulator: string, fullName: string): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  // A server that listens over TCP has such an address.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, seen };

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "/").replace(/^\/repositories\/\d+\//, `/repos/${fullName}/`);
    const headers = { authorization: request.headers.authorization ?? "", accept: "application/json" };
    const method = request.method ?? "GET";
    seen.push(`${method} ${path.replace(/\?.*/, "")}`);
    const ask = async (at: string) => fetch(`${emulator}${at}`, { method, headers, redirect: "manual" });
    if (/\/issues\/comments\?/.test(path)) {
      // As the emulator's own listings.
      const issues = (await (await ask(`/repos/${fullName}/issues?state=all`)).json()) as { number: number }[];
      const all: unknown[] = [];
      for (const { number } of issues)
        all.push(...((await (await ask(`/repos/${fullName}/issues/${number}/comments`)).json()) as unknown[]));
      response.end(JSON.stringify(all));
      return;
    }
    const answer = await ask(path);
    const link = answer.headers
      .get("link")
      ?.replaceAll(new RegExp(emulator.replace("127.0.0.1", "(?:127.0.0.1|localhost)"), "g"), url);
    response.writeHead(answer.status, { "content-type": "application/json", ...(link && { link }) });
    response.end(Buffer.from(await answer.arrayBuffer()));
  }
}

test(
  "an app reads issues and comments of an emulated GitHub, which checks its assertion",
  { timeout: 60_000 },
  async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const installations = [{ installation_id: 31, account: "octocat", repositories: ["octocat/hello"] }];
    const seed = {
      users: [{ login: "octocat", name: "Octo Cat" }],
      repos: [{ owner: "octocat", name: "hello", private: true }],
      apps: [{ ...app, private_key: pem, installations }],
      tokens: [{ token: "octo-token", login: "octocat" }],
    };
    const emulator = await createEmulator({
      service: "github",
      port: 0,
      seed: { github: seed, tokens: { "octo-token": { login: "octocat", scopes: ["repo"] } } },
    } as never);
    onTestFinished(() => emulator.close());
    const address = emulator.url.replace("localhost", "127.0.0.1").replace(/\/$/, "");
    const post = async (path: string, body: unknown) => {
      const headers = { authorization: "Bearer octo-token", "content-type": "application/json" };
      const answer = await fetch(`${address}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    };
    for (let at = 1; at <= 3; at++)
      await post("/repos/octocat/hello/issues", { title: `Issue ${at}`, body: "Some words." });
    await post("/repos/octocat/hello/issues/2/comments", { body: "Me too." });
    const front = await startFront(address, "octocat/hello");
    const source = makeGithubSource(places());
    const fixture = {
      source,
      config: source.spec.config.parse({ apiUrl: front.url, repositories: ["octocat/hello"], content: ["issues"] }),
      credentials: { appId: "7", privateKey: pem, installation: "31" },
    } as unknown as KitFixture;
    const replica = makeReplica();
    await runInto(fixture, replica);
    expect([...replica.items.values()].map(({ title }) => title).sort()).toEqual([
      expect.stringMatching(/^Comment by octocat on octocat\/hello#2$/),
      "Issue 1",
      "Issue 2",
      "Issue 3",
    ]);
    expect(front.seen.filter((each) => each.startsWith("POST /app/"))).toEqual([
      "POST /app/installations/31/access_tokens",
    ]);
    const other = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey.export({
      type: "pkcs8",
      format: "pem",
    });
    const forged = { ...fixture, credentials: { appId: "7", privateKey: other.toString(), installation: "31" } };
    expect(await source.check(contextOf(forged) as never)).toMatchObject({
      ok: false,
      problem: { code: "source_unauthorized", field: "credentials" },
    });
  },
);
