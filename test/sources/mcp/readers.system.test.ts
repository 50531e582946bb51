import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Source } from "#sources/contract.ts";
import { makeMcpSource } from "#sources/mcp/index.ts";
import { findNodeServers, startProgram } from "../../mcp-client/real-servers.ts";
import { makeTestOpener } from "../../mcp-client/servers.ts";
import { openReaders, type Person } from "../own-readers.ts";

const NODE = findNodeServers();

describe.skipIf(NODE === undefined)("mcp in the server, with a real server", { timeout: 240_000 }, () => {
  test("those whom the connection is open to find what is there, at any time: first, after it was shared, and after 26 hours", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "kb-mcp-files-")));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const write = (path: string, text: string) => writeFileSync(join(folder, path), text);
    mkdirSync(join(folder, "notes"));
    write("notes/plan.md", "this is the plan of the quarter");
    write("notes/old.md", "this was planned before");
    write("read me.txt", "read this first");
    const stdio = `${process.execPath} ${NODE}/@modelcontextprotocol/server-filesystem/dist/index.js ${folder}`;
    const gateway = [process.execPath, `${NODE}/supergateway/dist/index.js`, "--stdio", stdio];
    const base = await startProgram([...gateway, "--outputTransport", "streamableHttp", "--port", "$PORT"], {
      says: /listening on port/i,
    });
    const url = `${base}/mcp`;
    let at = "";
    const world = await openReaders({
      // Its configurations were parsed by its own schema.
      source: makeMcpSource() as unknown as Source,
      openMcp: makeTestOpener([url]),
      async connect({ as }) {
        const must = async (person: Person, method: string, path: string, body: unknown) => {
          const answer = await as(person).request(method, path, { body });
          if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
          return answer.json;
        };
        const { server } = await must("owner", "POST", "/api/mcp-servers", {
          name: "Files",
          url,
          auth: { kind: "none" },
        });
        at = `/api/mcp-servers/${server.id}`;
        const list = { tool: "search_files", args: { path: folder, pattern: "**/*.*" } };
        const fetch = { tool: "read_text_file", argument: "path" };
        await must("owner", "PUT", `${at}/mapping`, { mapping: { list, fetch } });
        const { connection } = await must("reader", "POST", `${at}/connections`, { app: server.app ?? "files" });
        at += `/connections/${connection.id}`;
        return { by: "reader", body: { connectionId: connection.id } };
      },
      // What tools list has no date.
      search: "query=this",
      // As the server lists them: each file below its folder.
      list: async () =>
        readdirSync(folder, { recursive: true, encoding: "utf8" })
          .map((path) => join(folder, path))
          .filter((path) => statSync(path).isFile())
          .map((path) => `tool:${path}`),
    });
    const { must, userOf, groupId } = world;
    const share = (access: object) => must("reader", "PATCH", `${at}/access`, access);
    world.breakOff(true);
    await world.work();
    expect((await world.runs())[0]).toMatchObject({ state: "waiting" });
    await world.expectShown(["reader"], { isWhole: false });
    world.breakOff(false);
    await world.pass(1);
    // The connector is for the workspace, and the connection for the one who made it.
    await world.expectShown(["reader"]);

    // Permissions alone, from the next question on.
    await share({ visibility: "members", memberIds: [userOf("outsider").userId], groupIds: [groupId] });
    await world.expectShown(["reader", "leaver", "outsider"]);
    await must("owner", "PATCH", `/api/groups/${groupId}`, { memberIds: [] });
    await world.expectShown(["reader", "outsider"]);
    await share({ visibility: "workspace" });
    await world.expectShown(["owner", "reader", "leaver", "outsider"]);
    await share({ visibility: "members", memberIds: [userOf("leaver").userId] });
    await world.expectShown(["reader", "leaver"]);

    write("notes/plan.md", "this is another plan, as time went on");
    write("since.md", "this was written since");
    rmSync(join(folder, "notes/old.md"));
    // Each run starts the server's program once more.
    await world.pass(26, 6.5);
    await world.expectShown(["reader", "leaver"]);
    await must("owner", "DELETE", `/api/workspace/members/${userOf("leaver").userId}`);
    await world.expectShown(["reader"]);
    await must("owner", "DELETE", `/api/workspace/members/${userOf("reader").userId}`);
    await world.expectShown([], { isWhole: false });
  });
});
