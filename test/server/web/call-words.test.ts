import { describe, test } from "vitest";
import { describeClient } from "#server/web/app/data/browser-words.ts";
import { newestCall, secondsAgo } from "#server/web/app/data/call-words.ts";

const read = (over: object) => ({
  at: "2026-11-21T09:30:00.000Z",
  userId: "usr_2222222222222222",
  credential: "pat:tok_2222222222222222",
  client: "Cursor/1.2",
  tool: "kb_search",
  kbIds: ["kbi_2222222222222222"],
  answers: 1,
  repeats: 0,
  ...over,
});
const token = (lastUsedAt: string | null) => ({
  id: "tok_2222222222222222",
  name: "My laptop",
  lastUsedAt,
  scopes: ["mcp:read" as const],
});

test("a client is shown by the name that it gives itself", ({ expect }) => {
  const clients = [null, "claude-code/2.0.14 kb/0.1.0", "acme agent", "kb/0.1.0", "node", "Visual Studio Code/1.99"];
  expect(clients.map(describeClient)).toEqual([
    undefined,
    "“Claude Code 2.0.14”",
    "“acme agent”",
    "kb command line",
    "a script",
    "“VS Code 1.99”",
  ]);
});

describe("the newest call of a client", () => {
  test("is none before one of the tools was called", ({ expect }) => {
    expect(newestCall([], [token(null)])).toBeUndefined();
    const notCalls = [
      read({ credential: "session:ses_2222222222222222" }),
      read({ tool: "GET /api/connectors/search" }),
    ];
    expect(newestCall(notCalls, [{ ...token("2026-11-21T09:31:00.000Z"), scopes: ["kb:api"] }])).toBeUndefined();
  });

  test("names the client and the tool; where it was answered with nothing, the token", ({ expect }) => {
    const used = token("2026-11-21T09:29:59.000Z");
    expect(newestCall([read({})], [used])).toEqual({
      who: "Cursor",
      tool: "kb_search",
      at: "2026-11-21T09:30:00.000Z",
    });
    expect(newestCall([read({ client: null })], [])).toMatchObject({ who: "A client" });
    // Through the bridge, by the name that the client gives itself there; the bridge alone is its token.
    const bridged = read({ client: "claude-code/2.0.14 kb/0.1.0" });
    expect(newestCall([bridged], [used])).toMatchObject({ who: "Claude Code" });
    expect(newestCall([read({ client: "kb/0.1.0" })], [used])).toMatchObject({ who: "My laptop", tool: "kb_search" });
    expect(newestCall([read({ client: "node" })], [])).toMatchObject({ who: "A client" });
    expect(newestCall([], [used])).toEqual({ who: "My laptop", tool: null, at: "2026-11-21T09:29:59.000Z" });
    expect(newestCall([read({})], [token("2026-11-21T09:40:00.000Z")])).toMatchObject({ who: "My laptop", tool: null });
  });

  test("is told to the second within the first minute, whatever the clocks say", ({ expect }) => {
    const at = "2026-11-21T09:30:00.000Z";
    const now = Date.parse(at);
    expect([-5_000, 1_000, 4_400, 59_000, 60_000].map((ms) => secondsAgo(at, now + ms))).toEqual([
      "0 seconds ago",
      "1 second ago",
      "4 seconds ago",
      "59 seconds ago",
      undefined,
    ]);
  });
});
