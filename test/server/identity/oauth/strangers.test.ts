/** What a stranger behind the same address can keep others from: nothing that shows a credential of this server. */
import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";
import { LIMITS } from "#server/http/limits.ts";
import { TEST_PASSWORD } from "../../../helpers.ts";
import { startServer } from "./harness.ts";

const { open } = LIMITS["self-hosted"];

/** A server whose public routes a stranger at 127.0.0.1, where everybody in these tests is, has used up. */
async function besieged() {
  const kb = await startServer();
  const owner = await kb.addOwner();
  const ask = { clientId: await kb.client(), scope: "mcp:read" };
  const tokens = await kb.letIn(owner, ask);
  const browser = kb.browser(owner);
  const signIn = (headers: Record<string, string> = {}) =>
    fetch(`${kb.base}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ email: owner.email, password: TEST_PASSWORD }),
    });
  const known = (await signIn()).headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  const guess = () => kb.refresh(ask, `guess-${Math.trunc(kb.clock.now())}-${guesses++}`);
  let guesses = 0;
  while ((await guess()).status !== 429) if (guesses > open.burst + 10) throw new Error("A stranger is never refused.");
  expect((await fetch(`${kb.base}/oauth/jwks`)).status).toBe(429);
  return { kb, owner, ask, tokens, browser, guess, signIn: () => signIn({ cookie: known.join("; ") }) };
}

test("a stranger who guesses at tokens is refused, and a refresh with a token of this server is answered", async () => {
  const { kb, ask, tokens, guess } = await besieged();
  expect((await guess()).status).toBe(429);
  expect((await kb.refresh(ask, tokens.refresh_token)).status).toBe(200);
});

test("a token that comes in pieces is seen as well, and a form that is too long to look at counts for its address", async () => {
  const { kb, ask, tokens } = await besieged();
  const send = (padding: string) => {
    const form = new URLSearchParams({
      grant_type: "refresh_token",
      client_id: ask.clientId,
      refresh_token: tokens.refresh_token ?? "",
      padding,
    }).toString();
    return new Promise<number>((resolve, reject) => {
      const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": form.length };
      const asked = request(`${kb.base}/oauth/token`, { method: "POST", headers }, (answer) => {
        resolve(answer.resume().statusCode ?? 0);
      });
      asked.on("error", reject);
      // Each piece arrives by itself: the server has answered somebody else in between.
      asked.write(
        form.slice(0, 20),
        () => void fetch(`${kb.base}/healthz`).then(() => asked.end(form.slice(20)), reject),
      );
    });
  };
  expect(await send("x".repeat(8_192))).toBe(429);
  expect(await send("")).toBe(200);
});

test("a form whose rest doesn't come holds up no one", async () => {
  const kb = await startServer();
  const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": 100 };
  const held = request(`${kb.base}/oauth/token`, { method: "POST", headers });
  const ended = once(held, "error");
  await new Promise<void>((resolve) => held.write("a", () => resolve()));
  for (let n = 0; n < 5; n++) expect((await fetch(`${kb.base}/healthz`)).status).toBe(200);
  held.destroy();
  await ended;
});

test("a person whose browser is known signs in, and lets a client in to the end", async () => {
  const { kb, owner, ask, signIn } = await besieged();
  expect((await signIn()).status).toBe(200);
  expect(await kb.letIn(owner, ask)).toHaveProperty("refresh_token");
});

test("one token that is used again and again meets the limit by itself", async () => {
  const { kb, ask, tokens } = await besieged();
  const statuses = new Set<number>();
  for (let n = 0; n <= open.burst; n++)
    statuses.add((await kb.refresh({ ...ask, clientId: "x" }, tokens.refresh_token)).status);
  expect(statuses).toContain(429);
});
