/** `localhost` on a machine where somebody else may listen on `[::1]`: a login goes to the address it was made for. */
import { createServer } from "node:http";
import { onTestFinished, test } from "vitest";
import { kb, makeWorld } from "./fakes.ts";
import { startStandIn } from "./stand-in.ts";

async function signedIn() {
  const server = await startStandIn();
  const asked: string[] = [];
  const world = makeWorld({ env: {} });
  world.real = {
    fetch: (input, init) => {
      asked.push(new URL(String(input)).host);
      return globalThis.fetch(input, init);
    },
  };
  await kb(world, "login", server.url, "--device");
  asked.length = 0;
  const { port } = new URL(server.url);
  const stranger: string[] = [];
  const listener = createServer((request, response) => {
    stranger.push(String(request.headers.authorization));
    response.end("{}");
  });
  await new Promise<void>((resolve) => listener.listen({ host: "::1", port: Number(port), ipv6Only: true }, resolve));
  onTestFinished(() => void listener.close());
  return { world, port, asked, stranger };
}

test("a login for 127.0.0.1 that localhost is asked for goes to 127.0.0.1", async ({ expect }) => {
  const { world, port, asked, stranger } = await signedIn();
  const run = await kb(world, "whoami", "--url", `http://localhost:${port}`);
  expect([run.code, run.stdout]).toEqual([0, expect.stringContaining("ana@one.test")]);
  expect(new Set(asked)).toEqual(new Set([`127.0.0.1:${port}`]));
  expect(stranger).toEqual([]);
});

test("other names and ports have no such login", async ({ expect }) => {
  const { world, port, asked, stranger } = await signedIn();
  for (const url of [`http://[::1]:${port}`, `http://localhost:${Number(port) === 65_535 ? 1 : Number(port) + 1}`]) {
    const run = await kb(world, "whoami", "--url", url);
    expect([run.code, run.stderr]).toEqual([4, expect.stringContaining("Not signed in")]);
  }
  expect([asked, stranger]).toEqual([[], []]);
});

test("a token of the environment goes to the address that it was given with", async ({ expect }) => {
  const { world, port, asked } = await signedIn();
  world.env = { ...world.env, KB_TOKEN: "kb_pat_of_the_environment", KB_URL: `http://localhost:${port}` };
  await kb(world, "whoami");
  expect(new Set(asked)).toEqual(new Set([`localhost:${port}`]));
});
