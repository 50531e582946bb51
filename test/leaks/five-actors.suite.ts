import { describe, test, vi } from "vitest";
import { startServer } from "./build.ts";
import { countLeaks } from "./compare.ts";
import { PERSONAS } from "./model.ts";
import { makeConnectedModel, makeModel } from "./worlds.ts";

// Several servers are filled and asked hundreds of questions: a shared machine may take its time.
vi.setConfig({ testTimeout: 180_000 });

/** What shows items. */
export const SPEAKING = [
  "GET /api/connectors/all-files",
  "GET /api/connectors/{id}/files",
  "GET /api/connectors/file-counts-by-source",
  "GET /api/connectors/files/{fileId}/content",
  "GET /api/connectors/files/{fileId}/access",
  "GET /api/connectors/{id}/removals",
  "GET /api/connectors/{id}/syncs/{syncId}",
  "GET /api/connectors/search",
  "GET /api/entities",
  "GET /api/entities/{id}",
  "tool kb_search",
  "tool kb_search_entities",
  "tool kb_get_entity_context",
  "tool kb_get_file_content",
];

interface Size {
  /** Items of the world. */
  items: number;
  /** How often each route is asked. */
  rounds: number;
  /** Routes that show something at least: asked once, one may have nothing to show. */
  speaking: number;
}

export function describeFiveActors({ items, rounds, speaking }: Size): void {
  describe("owner, member with access, member without, removed member, stranger", () => {
    test("no route and no tool shows any of them a word of what they may not see", async ({ expect }) => {
      const server = await startServer(makeConnectedModel(42, items));
      const count = await countLeaks(server, PERSONAS, { seed: 2, rounds });
      expect(count.leaks).toEqual([]);
      expect(count.checks).toBeGreaterThan(250 * rounds);
      // The canaries do come out where they may, so their absence elsewhere means something.
      const shown = SPEAKING.filter((route) => count.speaking.has(route));
      expect(shown.length, shown.join("\n")).toBeGreaterThanOrEqual(speaking);
    });

    test("a removed member's token opens nothing, and a stranger's opens only their own workspace", async ({
      expect,
    }) => {
      const server = await startServer(makeModel(43, 20));
      expect((await server.clients.removed.get("/api/connectors/all-files")).status).toBe(401);
      const seen = await server.clients.stranger.get("/api/connectors/all-files");
      const theirs = new Set(server.model.items.filter((item) => item.workspace === "two").map((item) => item.kbId));
      for (const file of seen.json.files) expect(theirs.has(file.kbId)).toBe(true);
      expect(seen.json.total).toBeGreaterThan(0);
    });
  });
}
