import { isNamedIn } from "#sources/in-scope.ts";
import type { Scope } from "#core/scope.ts";
import type { ScopeAddition } from "#sources/contract.ts";
import type { ConfluenceClient } from "./client.ts";
import type { ConfluenceConfig } from "./config.ts";
import { spacesOf } from "./spaces.ts";

/** The most spaces that are counted. With more spaces, a person would wait too long for the answer. */
const MOST_SPACES = 50;
/** The number of pages whose restrictions, or whose texts, are read with one request. */
const PAGES_OF_CALL = 25;
/** Further requests for a space: its pages, its comments and attachments, and its readers. */
const OTHER_CALLS = 3;

/**
 * Counts the pages and blog posts of the spaces that a scope adds, using the site's search index: one request for each
 * space.
 */
export async function countAdded(
  client: Pick<ConfluenceClient, "spaces" | "countPages" | "odd">,
  config: ConfluenceConfig,
  { from, to }: { from: Scope; to: Scope },
): Promise<ScopeAddition | undefined> {
  const added = (await spacesOf(client, config, to)).known.filter(({ id }) => !isNamedIn(from, id));
  if (added.length > MOST_SPACES) return undefined;
  let [items, calls] = [0, 0];
  for (const { key } of added) {
    const pages = await client.countPages(key);
    if (pages === undefined) return undefined;
    items += pages;
    calls += 2 * Math.ceil(pages / PAGES_OF_CALL) + OTHER_CALLS;
  }
  return { items, calls };
}
