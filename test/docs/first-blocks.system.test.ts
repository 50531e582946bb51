import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { findFreePort, isInstalled, newcomer, shellBlocks } from "../e2e/newcomer.ts";

const USUAL_URL = "http://127.0.0.1:7700";

function blocksOf(page: string): string[] {
  return shellBlocks(readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8"));
}

test("the first commands of each source's page and of the endpoint's run as they stand, on one server", async ({
  expect,
}) => {
  // The usual port is the README test's, which may be running beside this one.
  const { home, run } = newcomer({ KB_PORT: String(await findFreePort()) });
  mkdirSync(join(home, "notes"));
  writeFileSync(join(home, "notes/hello.md"), "Hello there.\n");
  const started = await run("kb quickstart notes");
  const url = /^MCP URL: (http:\S+)\/mcp$/m.exec(started.stdout)?.[1] ?? started.stderr;

  const [lines, http, documents] = blocksOf("sources/push.md");
  const blocks: (readonly [page: string, block: string | undefined, shown: string])[] = [
    ["filesystem.md", blocksOf("sources/filesystem.md")[0], "travel.md"],
    ["git.md", blocksOf("sources/git.md")[0], "travel.md"],
    ["push.md", lines, "Renew the certificate"],
    ...(isInstalled("curl")
      ? ([
          ["push.md", http, '"result":"unchanged"'],
          ["mcp.md", `export KB_TOKEN="$(kb tokens create curl)"\n${blocksOf("mcp.md")[0]}`, '"name":"kb_search"'],
        ] as const)
      : []),
    ["push.md", documents, '"result":"upserted"'],
  ];
  for (const [page, block, shown] of blocks) {
    const folder = join(home, page);
    mkdirSync(folder, { recursive: true });
    // The one change: the port.
    const ran = await run((block ?? "exit 64").replaceAll(USUAL_URL, url), folder);
    expect(ran, `${page}: ${ran.stderr}`).toMatchObject({ code: 0, stdout: expect.stringContaining(shown) });
  }
  // Some fifteen programs one after the other: on a machine with other work that takes longer than one test may.
}, 120_000);
