import { describe, onTestFinished, test } from "vitest";
import type { Source } from "#sources/contract.ts";
import { makeWebSource } from "#sources/web/index.ts";
import { openReaders, playReaders, readersBody } from "../own-readers.ts";
import { CREDENTIALS } from "./fixture.ts";
import { page, sitemap, startSite } from "./site.ts";

describe.each(["crawl", "sitemap"] as const)(
  "web in the server, with a real site, by %s",
  { timeout: 240_000 },
  (mode) => {
    test("the readers of the config find what is there, at any time: first, after others read, and after 26 hours", async () => {
      const site = await startSite(CREDENTIALS);
      onTestFinished(() => site.stop());
      const paths = ["/a", "/b/1", "/b/2", "/c", "/z"];
      const write = () => {
        site.put("/", page("Page of pages", paths));
        site.put("/sitemap.xml", sitemap(["/", ...paths].map((path) => site.origin + path)));
      };
      for (const path of paths) site.put(path, page(`Page ${path}`));
      write();
      const source = makeWebSource({
        batching: { upserts: 2, listings: 3 },
        limits: { perMinute: 60_000 },
        sleep: async () => {},
        // Its configurations were parsed by its own schema.
      }) as unknown as Source;
      const config = { url: `${site.origin}/`, mode };
      const world = await openReaders({
        source,
        connect: async ({ groupId }) => ({ body: { ...readersBody(groupId, config), credentials: CREDENTIALS } }),
        list: async () =>
          [...site.things.keys()].filter((path) => path !== "/sitemap.xml").map((path) => site.origin + path),
        // A page need not have a date.
        search: "query=page",
      });
      await playReaders(world, {
        config,
        act() {
          site.put("/b/1", page("Page /b/1", [], "", "Other words, as time went on."));
          site.put("/since", page("Page since"));
          site.things.delete("/z");
          paths.splice(paths.indexOf("/z"), 1, "/since");
          write();
        },
      });
    });
  },
);
