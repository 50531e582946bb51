import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { tempDir } from "../temp-dir.ts";
import { signInAdmin, startServerProcess } from "./server-process.ts";

test(
  "a server that is killed between a change and its delivery sends the event after its next start",
  // Two servers, and a claim that ends by itself after 20 seconds.
  { timeout: 120_000 },
  async () => {
    const dir = tempDir();
    mkdirSync(join(dir, "notes"));
    writeFileSync(join(dir, "notes", "plan.md"), "The plan");
    let isAnswering = false;
    const received: { id: string; headers: Record<string, string>; body: string }[] = [];
    const receiver = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += String(chunk)));
      request.on("end", () => {
        // A delivery's headers have one value each.
        const headers = request.headers as Record<string, string>;
        received.push({ id: headers["webhook-id"] ?? "", headers, body });
        if (isAnswering) response.writeHead(204).end();
      });
    }).listen(0, "127.0.0.1");
    onTestFinished(() => {
      receiver.closeAllConnections();
      receiver.close();
    });
    await once(receiver, "listening");
    // It listens on a port.
    const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const env = { KB_ALLOW_PRIVATE_HOSTS: host, KB_LOCAL_ROOTS: join(dir, "notes") };
    const server = await startServerProcess(join(dir, "data"), env);
    const admin = await signInAdmin(server.url);
    const { target, secret } = (await admin("POST", "/api/webhooks", { url: `http://${host}/kb` })).json;
    const { connector } = (
      await admin("POST", "/api/connectors", {
        providerId: "filesystem",
        name: "notes",
        config: { root: join(dir, "notes") },
        access: { visibility: "workspace" },
      })
    ).json;
    const finished = async () => (await admin("GET", `/api/connectors/${connector.id}/syncs`)).json.syncs;
    await expect.poll(async () => (await finished())[0]?.state, { timeout: 30_000 }).toBe("succeeded");
    await expect.poll(() => received.length, { timeout: 10_000 }).toBe(1);
    await admin("POST", `/api/connectors/${connector.id}/syncs`, { mode: "full" });
    await expect.poll(async () => (await finished())[0]?.state, { timeout: 30_000 }).toBe("succeeded");
    const emitted = (await admin("GET", `/api/webhooks/${target.id}/deliveries`)).json.deliveries.toReversed();
    expect(emitted.map(({ state, type }: { state: string; type: string }) => [state, type])).toEqual([
      ["waiting", "sync.finished"],
      ["waiting", "sync.finished"],
    ]);
    server.child.kill("SIGKILL");
    await once(server.child, "exit");
    isAnswering = true;
    const next = await startServerProcess(join(dir, "data"), env);
    const ids = emitted.map(({ eventId }: { eventId: string }) => eventId);
    await expect.poll(() => received.slice(1).map(({ id }) => id), { timeout: 40_000 }).toEqual(ids);
    expect(received[0]?.id).toBe(ids[0]);
    const verified = received.map(({ headers, body }) => new Webhook(secret).verify(body, headers));
    expect(verified).toEqual([verified[1], verified[1], verified[2]]);
    const log = next.output() + server.output();
    expect(log).not.toContain(secret.slice(6));
    expect(received.map(({ body }) => body).join()).not.toMatch(/plan|notes/);
    expect(await next.stop()).toBe(0);
  },
);
