import { defined } from "#core/defined.ts";
import type { SourceContext } from "#sources/context.ts";
import type { ContainerRef, SourceItem } from "#sources/item.ts";
import type { PageRecord, ReferenceConfig } from "./client.ts";
import { sourceGroup } from "#sources/principals.ts";

type Context = Pick<SourceContext<ReferenceConfig>, "config" | "connector">;

/** A page of the wiki, or what was said about one. */
export function toItem(ctx: Context, page: PageRecord): SourceItem {
  const { id, title, space, on, answers, formerly, revision } = page;
  return {
    externalId: id,
    kind: on === undefined ? "page" : "message",
    title: title.trim() === "" ? "Untitled" : title,
    url: `${ctx.config.url}/pages/${encodeURIComponent(id)}`,
    version: String(revision),
    containers: [{ ...spaceRef(space), name: space, isHome: true }],
    // By the revision: the wiki gives the text as it is now, and says of which revision that is.
    content: { type: "fetch", ref: String(revision) },
    // One group for all that a space has: who joins or leaves changes one row, and no page. Anyone who reads a page reads
    // what is said about it.
    ...(on === undefined
      ? { access: { known: true, all: [[sourceGroup(ctx.connector.id, `space:${space}`)]] } }
      : { partOf: on }),
    ...defined({ replyTo: answers, formerId: formerly }),
  };
}

export function spaceRef(id: string): ContainerRef {
  return { type: "space", id };
}
