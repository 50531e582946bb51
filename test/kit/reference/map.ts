import type { SourceAccess } from "#core/principals.ts";
import type { Scope } from "#core/scope.ts";
import type { SourceContext } from "#sources/context.ts";
import type { ContainerRef, SourceItem } from "#sources/item.ts";
import type { PageRecord, ReferenceConfig } from "./client.ts";
import { groupPrincipal } from "./people.ts";

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
    // Anyone who reads the page reads what is said about it.
    ...(on === undefined ? { access: accessOf(ctx, space) } : { partOf: on }),
    ...(answers !== undefined && { replyTo: answers }),
    ...(formerly !== undefined && { formerId: formerly }),
  };
}

/** One group for all that a space has: who joins or leaves changes one row, and no page. */
function accessOf(ctx: Context, space: string): SourceAccess {
  return { known: true, all: [[groupPrincipal(ctx, `space:${space}`)]] };
}

export function spaceRef(id: string): ContainerRef {
  return { type: "space", id };
}

/** A scope names spaces. */
export function isInside({ include, exclude }: Scope, space: string): boolean {
  return (include.length === 0 || include.includes(space)) && !exclude.includes(space);
}
