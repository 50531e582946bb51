import { refusalOf } from "#sources/failures.ts";
import { readSome } from "./changes.ts";
import { formatId, parseId } from "./ids.ts";
import type { SpaceRecord } from "./records.ts";
import { spacesOf } from "./spaces.ts";
import type { Event, Tools } from "./tools.ts";

/** Only these, as they are now. */
export async function* readItems(tools: Tools): AsyncGenerator<Event, void> {
  const { client, run, ctx } = tools;
  const spaces = new Map((await spacesOf(client, ctx.config, run.scope)).map((space) => [space.id, space]));
  for (const externalId of run.externalIds ?? []) {
    ctx.signal.throwIfAborted();
    try {
      const events: Event[] = [];
      for await (const event of readOne(tools, spaces, externalId)) events.push(event);
      yield* events.length > 0 ? events : [{ t: "delete", externalId } as const];
    } catch (error) {
      const code = refusalOf(error);
      if (code === undefined) throw error;
      yield { t: "refused", what: { externalId }, code };
    }
  }
  yield { t: "end", listing: "partial", permissions: "not_checked" };
}

/** Nothing when it is gone, or out of scope. */
async function* readOne(
  tools: Tools,
  spaces: ReadonlyMap<string, SpaceRecord>,
  externalId: string,
): AsyncGenerator<Event, void> {
  const { client, ctx } = tools;
  const { type, id } = parseId(externalId) ?? {};
  if (type === undefined || id === undefined) return;
  if (type === "page") {
    const [page] = await client.pagesByIds([id], { hasTexts: false });
    const space = spaces.get(page?.spaceId ?? "");
    if (space) yield* readSome(tools, space, [id], []);
    return;
  }
  const record = await client.part({ type, id });
  const space = spaces.get(record?.space?.id ?? "");
  const page = record?.container?.id;
  if (!record || !space || page === undefined || formatId({ type, id: record.id }) !== externalId) return;
  // What stands at a page that is stored nowhere comes with the page.
  if ((await ctx.stored.version(formatId({ type: "page", id: page }))) !== undefined)
    yield* readSome(tools, space, [], [record]);
}
