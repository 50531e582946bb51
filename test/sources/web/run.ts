import { onTestFinished } from "vitest";
import type { SourceItem } from "#sources/item.ts";
import type { SyncEvent, SyncRequest } from "#server/sync/sync-events.ts";
import { WebConfig } from "#sources/web/config.ts";
import { makeWebSource } from "#sources/web/index.ts";
import { contextOf, type KitFixture } from "../../kit/fixture.ts";
import { makeReplica, type Replica, type RunOptions, runInto } from "../../kit/replica.ts";
import { startSite, type TestSite } from "./site.ts";

/** A connector to a site, with what a small engine has stored of it. */
export async function connect(config: Partial<WebConfig> & { path?: string } = {}, given?: TestSite) {
  const site = given ?? (await startSite());
  if (!given) onTestFinished(() => site.stop());
  const { path = "/", ...more } = config;
  const slept: number[] = [];
  const source = makeWebSource({
    // One batch, however slow the machine is: what is seen is told last.
    batching: { everyMs: Infinity },
    limits: { perMinute: 600_000 },
    sleep: async (ms) => void slept.push(ms),
  });
  const fixture: Pick<KitFixture, "source" | "config"> = {
    // It is called with configurations that its own schema has parsed.
    source: source as unknown as KitFixture["source"],
    config: WebConfig.parse({ url: site.origin + path, ...more }),
  };
  // What the kit's functions use of a fixture.
  const whole = fixture as KitFixture;
  const replica: Replica = makeReplica();
  const pathOf = (id: string) => (id.startsWith(site.origin) ? id.slice(site.origin.length) : id);
  return {
    site,
    source: fixture.source,
    slept,
    replica,
    context: () => contextOf(whole),
    check: () => fixture.source.check(contextOf(whole)),
    /** A run, and what it said of each page: `+` stored, `=` the same, `-` deleted, `!` failed, `x` refused, `~` left out. */
    async run(mode: SyncRequest["mode"] = "full", options: RunOptions = {}): Promise<string[]> {
      const { events } = await runInto(whole, replica, { mode, ...options });
      return events.flatMap((event) => marksOf(event).map((mark) => mark.replace(site.origin, "")));
    },
    paths: () => [...replica.items.keys()].map(pathOf).sort(),
    item(path: string): SourceItem {
      const item = replica.items.get(site.origin + path);
      if (!item) throw new Error(`${path} is not stored.`);
      return item;
    },
  };
}

function marksOf(event: SyncEvent): string[] {
  switch (event.t) {
    case "upsert":
      return [`+ ${event.item.externalId}`];
    case "seen":
      return event.externalIds.map((id) => `= ${id}`);
    case "delete":
      return [`- ${event.externalId}`];
    case "skip":
      return [`${event.reason === "failed" ? "!" : "~"} ${event.externalId}`];
    case "refused":
      return "externalId" in event.what ? [`x ${event.what.externalId}`] : [];
    default:
      return [];
  }
}
