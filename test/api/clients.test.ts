import { readFileSync } from "node:fs";
import { test } from "vitest";
import { clientLines } from "#api/clients.ts";

const PAGE = new URL("../../docs/clients.md", import.meta.url).pathname;

/** Blanks and line ends are a matter of layout. */
const squeeze = (text: string) => text.replaceAll(/\s+/g, "");

test("docs/clients.md tells the lines that the page shows", ({ expect }) => {
  const page = squeeze(readFileSync(PAGE, "utf8"));
  const clients = clientLines({ mcpUrl: "https://kb.example.com/mcp" });
  const missing = clients.flatMap(({ name, bridge, http }) =>
    [bridge, http]
      .filter((lines) => lines !== null && !page.includes(squeeze(lines.text)))
      .map((lines) => [name, lines?.text]),
  );
  expect(missing).toEqual([]);
});

test("no line holds a token, and each names this server", ({ expect }) => {
  const clients = clientLines({ mcpUrl: "https://kb.example.com/mcp", baseUrl: "https://kb.example.com" });
  for (const { bridge, http } of clients) {
    expect(bridge.text).toContain("https://kb.example.com");
    if (http !== null) expect(http.text).toMatch(/KB_TOKEN|input:kb-token/);
    expect(bridge.text + (http?.text ?? "")).not.toMatch(/kb_pat_|npx kb\b/);
  }
});
