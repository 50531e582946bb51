import type { OpenList, Policy } from "#server/access/policy.ts";
import type { Actor } from "#server/ports/actor.ts";
import type { AskedItems, ItemMatch } from "#server/ports/store/items.ts";

/** What a URL or key means to somebody: the best item first; several only when `#412` fits several places. */
export type LookedUp = { kbIds: string[]; isAmbiguous: boolean };

/**
 * Finds the visible items that a kbId, URL or issue key names. Hidden ones take no part, so they never make it
 * ambiguous and never win (S25). Among several for one URL the connector whose provider owns the host comes first, then
 * the first indexed, a pushed item last (S41).
 */
export function lookUpItems(policy: Policy, actor: Actor, asked: string): Promise<LookedUp> {
  const text = asked.trim();
  return policy.readList(actor, async ({ store, accesses, viewer }) => {
    const near = await matchesInSight({ store, accesses }, toAsked(text));
    // The lists of the store decide, as everywhere.
    const open = await store.access.visibleOf(
      near.map((match) => match.aclId),
      viewer.principals,
    );
    const visible = near.filter((match) => open.has(match.aclId));
    const forms = urlForms(text);
    const nearness = (match: ItemMatch) => (match.url === null ? 0 : forms.indexOf(match.url));
    visible.sort(
      (a, b) =>
        rank(a, text) - rank(b, text) ||
        nearness(a) - nearness(b) ||
        a.indexedAt - b.indexedAt ||
        (a.kbId < b.kbId ? -1 : 1),
    );
    const isAmbiguous = text.startsWith("#") && new Set(visible.map((match) => match.key)).size > 1;
    return { kbIds: visible.map((match) => match.kbId), isAmbiguous };
  });
}

/**
 * The forms under which the address of one thing may be stored: without fragment and tracking, with and without the
 * last slash, a pull request's tabs as the pull request, a Google document without its mode.
 */
export function urlForms(text: string): string[] {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    // Not an address: it has no other forms.
    return [text];
  }
  const forms = new Set([text, url.href]);
  url.hash = "";
  forms.add(url.href);
  const params = url.searchParams;
  const noise = /(?:^|\.)slack\.com$/.test(url.hostname) ? SLACK_NOISE : TRACKING;
  const names = [...params.keys()];
  for (const name of names) if (noise.test(name)) params.delete(name);
  forms.add(url.href);
  for (const [host, tail, kept] of TAILS) {
    if (host.test(url.hostname)) url.pathname = url.pathname.replace(tail, kept);
  }
  forms.add(url.href);
  const twins = [...forms].map((form) => (form.endsWith("/") ? form.slice(0, -1) : `${form}/`));
  return [...new Set([...forms, ...twins])];
}

const TRACKING = /^(?:utm_\w+|usp|gclid|fbclid|mc_[ce]id|plain|display)$/i;
const SLACK_NOISE = /^(?:thread_ts|cid)$/;
const TAILS: [host: RegExp, tail: RegExp, kept: string][] = [
  [/(?:^|\.)github\.com$/, /^(\/[^/]+\/[^/]+\/pull\/\d+)\/(?:files|commits|checks)(?:\/.*)?$/, "$1"],
  [/^(?:docs|drive)\.google\.com$/, /\/(?:edit|view|preview|copy|htmlview)$/, ""],
];

const HOST_OWNERS: [host: RegExp, providerId: string][] = [
  [/(?:^|\.)github\.com$/, "github"],
  [/^(?:docs|drive|sheets|slides)\.google\.com$/, "google-drive"],
  [/(?:^|\.)slack\.com$/, "slack"],
];

/** Matches read at once, and visible ones that are enough. */
const SLICE = 200;

/** Visible items that fit, the first indexed first. Hidden ones take none of their places, however many there are. */
async function matchesInSight({ store, accesses }: Pick<OpenList, "store" | "accesses">, asked: AskedItems) {
  const found: ItemMatch[] = [];
  let after: ItemMatch | undefined;
  for (;;) {
    const matches = await store.items.matches(asked, after, SLICE);
    found.push(...matches.filter((match) => accesses.has(match.aclId)));
    if (matches.length < SLICE || found.length >= SLICE) return found.slice(0, SLICE);
    after = matches.at(-1);
  }
}

function toAsked(text: string): AskedItems {
  if (/^https?:\/\//i.test(text)) return { urls: urlForms(text) };
  if (/^#\d{1,9}$/.test(text)) return { keySuffix: text };
  return { keys: [...new Set([text, text.toUpperCase(), text.toLowerCase()])] };
}

function rank(match: ItemMatch, text: string): number {
  if (match.providerId === "push") return 2;
  const host = /^https?:\/\/([^/:?#]+)/i.exec(text)?.[1]?.toLowerCase() ?? "";
  const owner = HOST_OWNERS.find(([pattern]) => pattern.test(host))?.[1];
  return owner === match.providerId ? 0 : 1;
}
