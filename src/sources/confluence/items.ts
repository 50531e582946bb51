import { failedSkip } from "#sources/failures.ts";
import { halfRead, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { formatId, parseId } from "./ids.ts";
import type { SpaceRecord } from "./records.ts";
import { readSome } from "./some.ts";
import { type Spaces, spacesOf } from "./spaces.ts";
import type { Tools } from "./tools.ts";

/** Reads the present state of these items alone. */
export async function* readItems(tools: Tools, externalIds: readonly string[]): AsyncGenerator<Outcome, void> {
  const { client, scope, ctx } = tools;
  yield* readSingly(tools, await spacesOf(client, ctx.config, scope), externalIds);
}

/** Reads these ids one by one. Each ends as an item, as gone, as refused or as failed. */
export async function* readSingly(
  tools: Tools,
  spaces: Spaces,
  externalIds: readonly string[],
): AsyncGenerator<Outcome, void> {
  const { client } = tools;
  yield* readEach<Outcome>(tools, externalIds, async (externalId) => {
    const events: Outcome[] = [];
    client.odd.take();
    for await (const event of readOne(tools, spaces, externalId)) events.push(event);
    // A page that can't be parsed still exists.
    const { ids, nameless } = client.odd.take();
    return events.length === 0 && (nameless > 0 || ids.includes(externalId))
      ? [failedSkip(externalId, NOT_UNDERSTOOD)]
      : events;
  });
}

/** Reports no event if the item is gone or out of scope. */
async function* readOne(tools: Tools, spaces: Spaces, externalId: string): AsyncGenerator<Outcome, void> {
  const { client, ctx } = tools;
  const { type, id } = parseId(externalId) ?? {};
  if (type === undefined || id === undefined) return;
  if (type === "page") {
    const [page] = await client.pagesByIds([id], { hasTexts: false });
    const space = page && spaceIn(spaces, page.spaceId);
    if (space) yield* readSome(tools, space, [id], []);
    return;
  }
  const record = await client.part({ type, id });
  const space = record && spaceIn(spaces, record.space?.id);
  const page = record?.container?.id;
  if (!space || page === undefined || formatId({ type, id: record.id }) !== externalId) return;
  // If the page isn't stored, its parts are reported together with the page.
  if ((await ctx.stored.version(formatId({ type: "page", id: page }))) !== undefined)
    yield* readSome(tools, space, [], [record]);
}

/** Returns the space with this id. @throws ApiError if it may be a space that could not be parsed */
function spaceIn({ known, odd, isWhole }: Spaces, id: string | undefined): SpaceRecord | undefined {
  const space = known.find((each) => each.id === id);
  if (!space && (!isWhole || (id !== undefined && odd.includes(id)))) throw halfRead(NOT_UNDERSTOOD);
  return space;
}
