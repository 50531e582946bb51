import { createHmac } from "node:crypto";
import { onTestFinished } from "vitest";
import { makeNotionSource } from "#sources/notion/index.ts";
import { AT_EACH_PAGE, type KitFixture } from "../../kit/fixture.ts";
import { oddNames } from "../odd-names.ts";
import { type NotionServer, refuse, startNotion, TOKEN } from "./server.ts";
import { rich, World } from "./world.ts";

/** A workspace with pages in pages, a database and its rows, files and comments. */
export function makeWorld() {
  const world = new World();
  const home = world.page("Home");
  const guide = world.page("Guide", { page: home.id });
  const deep = world.page("Deep", { page: guide.id });
  const alone = world.page("Alone");
  const tasks = world.source("Tasks", { page: home.id });
  const rows = ["Write", "Read", "Rest"].map((title) => world.page(title, { source: tasks.id }));
  const paper = world.file("paper.txt", "Content of the paper 0.");
  guide.blocks.push(paper);
  guide.comments.push({ id: world.id(), text: "Well said.", at: world.now() });
  return { world, home, guide, deep, alone, tasks, rows, paper };
}
export type Made = ReturnType<typeof makeWorld>;

export async function openNotion(made: Made = makeWorld()) {
  const notion = await startNotion(made.world);
  onTestFinished(() => notion.stop());
  return { ...made, notion, fixture: makeNotionFixture(made, notion) };
}

export function makeNotionFixture(made: Made, notion: NotionServer): KitFixture {
  const { world, home, guide, alone, tasks, rows, paper } = made;
  const source = makeNotionSource({
    apiUrl: notion.origin,
    limits: { perMinute: 600_000, burst: 10_000 },
    batching: AT_EACH_PAGE,
  });
  const config = source.spec.config.parse({});
  let count = 0;
  const fileId = `${guide.id}.f${paper.id}`;
  return {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as unknown as KitFixture["source"],
    config,
    credentials: { token: TOKEN },
    badCredentials: { token: "kb-canary-wrong-token" },
    badConfigs: [{ pages: [] }, { readers: [] }, { readers: ["everyone"] }, { comments: "yes" }, { maxFileMb: 0 }],
    minItems: 9,
    lists: [
      { at: /\/comments\?/, has: (id) => id.includes(".c") },
      { at: new RegExp(`/blocks/${guide.id}/children`), has: (id) => id.startsWith(guide.id) },
    ],
    narrowerScope: { include: [], exclude: [tasks.id, alone.id] },
    async add() {
      return world.page(`More ${++count}`, { page: home.id }).id;
    },
    // Another upload, as long as before.
    async edit() {
      paper.value["file"] = { path: world.upload("paper.txt", `Content of the paper ${++count % 10}.`) };
      paper.edited = world.now();
      world.touch(guide);
      return fileId;
    },
    async remove() {
      const [row] = rows.splice(0, 1);
      if (row) row.isTrashed = true;
      return row?.id ?? "";
    },
    async addOdd() {
      return oddNames(200).map((name) => world.page(name, { page: home.id }).id);
    },
    async notification(externalId) {
      const secret = "secret_of_the_subscription_0123456789";
      const named = externalId.slice(0, 36);
      const raw = JSON.stringify(event("page.content_updated", named));
      const request = { headers: new Headers(signed(secret, raw)), rawBody: Buffer.from(raw), receivedAt: Date.now() };
      return { secret, named, request };
    },
    requests: () => notion.requests.length,
    async leadAway(origin) {
      notion.storeAt = origin;
    },
    async fail(kind) {
      const heal = () => void (notion.instead = undefined);
      const all = [...world.pages.keys()];
      switch (kind) {
        case "unreachable":
          notion.instead = (_asked, response) => (response.destroy(), true);
          return { externalIds: all, heal };
        case "unauthorized":
          notion.instead = (_asked, response) => (refuse(response, 401, "unauthorized"), true);
          return { externalIds: all, heal };
        case "rate_limited":
          notion.instead = (_asked, response) => (
            refuse(response, 429, "rate_limited", { "retry-after": "3600" }),
            true
          );
          return { externalIds: all, heal };
        case "hang":
          notion.instead = () => true;
          return { externalIds: all, heal };
        case "one_item":
          notion.instead = ({ path }, response) =>
            path.startsWith("/store/") && (refuse(response, 403, "restricted_resource"), true);
          return { externalIds: [fileId], heal };
        default:
          return undefined;
      }
    },
  };
}

let events = 0;
/** What Notion tells of something, but for what nobody reads. */
export const event = (type: string, id: string) => ({
  id: `event-${++events}`,
  type,
  entity: { id, type: type.split(".")[0] },
  data: {},
});

export const signed = (secret: string, raw: string) => ({
  "x-notion-signature": `sha256=${createHmac("sha256", secret).update(raw).digest("hex")}`,
});

export const paragraph = (world: World, text: string) => world.block("paragraph", { rich_text: rich(text) });
