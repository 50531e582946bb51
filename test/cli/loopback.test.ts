import { request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { onTestFinished, test } from "vitest";
import { listenForCode, type Loopback } from "#cli/sign-in/loopback.ts";

const STATE = "s".repeat(43);
const ISSUER = "https://kb.test";
const GOOD = { state: STATE, iss: ISSUER, code: "the-code" };

async function listening(timeoutMs?: number, signal = new AbortController().signal): Promise<Loopback> {
  const loopback = await listenForCode({ state: STATE, issuer: ISSUER }, signal, timeoutMs);
  onTestFinished(() => loopback.close());
  return loopback;
}

/** Asks as a browser would; `host` is what the page's address says. */
function ask(loopback: Loopback, path: string, options: { method?: string; host?: string } = {}): Promise<number> {
  const { port } = new URL(loopback.redirectUri);
  const headers = { host: options.host ?? `127.0.0.1:${port}` };
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", path, method: options.method ?? "GET", headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject).end();
  });
}

const query = (values: Record<string, string>): string => `/callback?${new URLSearchParams(values).toString()}`;

test("test 60: a wrong state, path, method or host is turned away, and the right answer still counts", async ({
  expect,
}) => {
  const loopback = await listening();
  expect(await ask(loopback, query({ ...GOOD, state: "x".repeat(43) }))).toBe(400);
  expect(await ask(loopback, query({ ...GOOD, state: "" }))).toBe(400);
  expect(await ask(loopback, `${query(GOOD)}&state=${STATE}`)).toBe(400);
  expect(await ask(loopback, query({ state: STATE, iss: ISSUER }))).toBe(400);
  expect(await ask(loopback, query(GOOD), { host: "evil.test" })).toBe(400);
  for (const path of [
    "/",
    "/favicon.ico",
    "/callback/",
    "/Callback",
    query(GOOD).replace("callback", "callbac%6B/x"),
  ]) {
    expect(await ask(loopback, path)).toBe(404);
  }
  for (const method of ["OPTIONS", "POST", "HEAD"]) expect(await ask(loopback, query(GOOD), { method })).toBe(404);
  expect(await ask(loopback, query(GOOD))).toBe(200);
  expect(await loopback.code).toBe("the-code");
});

test("test 60: a second answer is refused, and the first one stays", async ({ expect }) => {
  const loopback = await listening();
  expect(await ask(loopback, query(GOOD))).toBe(200);
  expect(await ask(loopback, query({ ...GOOD, code: "another" }))).toBe(410);
  expect(await loopback.code).toBe("the-code");
});

test("test 60: it listens on 127.0.0.1 only", async ({ expect }) => {
  const loopback = await listening();
  const { port } = new URL(loopback.redirectUri);
  const others = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ address }) => address !== "127.0.0.1" && !address.startsWith("fe80"))
    .map(({ address }) => address);
  const isOpen = (host: string): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), host, () => resolve(true)).on("error", () => resolve(false));
      onTestFinished(() => void socket.destroy());
    });
  expect(await isOpen("127.0.0.1")).toBe(true);
  for (const host of [...others, "127.0.0.2"]) expect([host, await isOpen(host)]).toEqual([host, false]);
});

test("test 60: an answer of another server, or of none, ends the sign-in", async ({ expect }) => {
  for (const more of [{ iss: "https://evil.test" }, { iss: `${ISSUER}/` }, { iss: "" }]) {
    const loopback = await listening();
    await ask(loopback, query({ ...GOOD, ...more }));
    await expect(loopback.code).rejects.toMatchObject({ code: "other_issuer", exit: 4 });
  }
});

test("a refusal, the end of the time and Ctrl-C end it, each in its own words", async ({ expect }) => {
  const refused = await listening();
  await ask(refused, query({ state: STATE, iss: ISSUER, error: "access_denied" }));
  await expect(refused.code).rejects.toMatchObject({ code: "access_denied", exit: 4 });
  await expect((await listening(5)).code).rejects.toMatchObject({ code: "timed_out", exit: 9 });
  const abort = new AbortController();
  const stopped = await listening(60_000, abort.signal);
  abort.abort();
  await expect(stopped.code).rejects.toMatchObject({ exit: 130 });
});

test("a closed one answers no one", async ({ expect }) => {
  const loopback = await listening();
  loopback.close();
  await expect(ask(loopback, query(GOOD))).rejects.toThrow(/ECONNREFUSED|reset/);
});
