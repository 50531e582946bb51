import { cleanField, cleanLine, MAX_CHARS, placeOf } from "#api/clean.ts";
import { ID_ALPHABET } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { KindLinks } from "#core/link-rules.ts";
import { itemNotFound, type OpenList, type Policy } from "#storage/policy/policy.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { AskedItems } from "#storage/records/item-queries.ts";
import type { ItemMatch } from "#storage/records/items.ts";

/** The visible items that a text names, best match first. There are several only if no single one matches best. */
export interface LookedUp {
  kbIds: string[];
  isAmbiguous: boolean;
}

/** The item that a request names. */
export interface NamedItem {
  kbId: string;
  /** The section from `kbi_…#Install`, or from an address that ends with a fragment. */
  section?: { name: string; isOfAddress: boolean };
}

/**
 * Finds the visible items that a kbId, permalink, URL, issue key, file name, path or title names. Hidden items are
 * ignored, so they never make a text ambiguous, never win and never displace visible ones (S25). If several items have
 * the same URL or key, the items of the connector whose provider owns the host come first, then the item that was
 * indexed first, and pushed items last (S41). A name identifies an item only if no other visible item has it.
 */
export function lookUpItems({ policy, kinds }: Asking, actor: Actor, asked: string): Promise<LookedUp> {
  return policy.readList(actor, async (open) => {
    const { matches, isAmbiguous } = await matchesOf(open, asked.trim(), kinds);
    return { kbIds: matches.map(({ kbId }) => kbId), isAmbiguous };
  });
}

/**
 * Returns the one item that a text names.
 *
 * @throws ApiError `not_found`, the same for hidden and missing items; `invalid_argument` when it fits several visible
 *   ones, whose kbIds are `details.kbIds`
 */
export async function resolveItem({ policy, kinds }: Asking, actor: Actor, text: string): Promise<NamedItem> {
  const asked = text.trim();
  const { address, place } = splitPlace(asked);
  const kbId = /^kbi_\w+$/.test(address) ? address : permalinkId(address);
  // Whether the item exists and the actor may read it is checked when it is read.
  if (kbId !== undefined) return { kbId, ...(place && { section: { name: place, isOfAddress: false } }) };
  const { matches, isAmbiguous } = await policy.readList(actor, (open) => matchesOf(open, asked, kinds));
  const [first] = matches;
  if (first === undefined) throw itemNotFound(cleanLine(asked, 200));
  if (isAmbiguous) throw fitsSeveral(asked, matches);
  const isAddress = /^https?:/i.test(asked);
  return { kbId: first.kbId, ...(isAddress && place && { section: { name: place, isOfAddress: true } }) };
}

/** Dependencies for looking up an item. */
export interface Asking {
  policy: Policy;
  /** The URL rules of the kinds of apps. */
  kinds: readonly KindLinks[];
}

interface Matches {
  matches: ItemMatch[];
  isAmbiguous: boolean;
}

async function matchesOf(open: OpenList, text: string, kinds: readonly KindLinks[]): Promise<Matches> {
  const best = (matches: readonly ItemMatch[], nearness?: (match: ItemMatch) => number) =>
    sorted(matches, { text, kinds, ...(nearness && { nearness }) });
  const { address } = splitPlace(text);
  const kbId = permalinkId(address);
  if (kbId !== undefined) return { matches: await visibleById(open, kbId), isAmbiguous: false };
  if (/^https?:\/\//i.test(text)) {
    const forms = urlForms(text, kinds);
    const found = await visibleOf(open, { urls: forms });
    return { matches: best(found, ({ url }) => (url === null ? 0 : forms.indexOf(url))), isAmbiguous: false };
  }
  if (/^#\d{1,9}$/.test(text)) {
    const matches = best(await visibleOf(open, { keySuffix: text }));
    return { matches, isAmbiguous: new Set(matches.map(({ key }) => key)).size > 1 };
  }
  const keyed = await visibleOf(open, { keys: variantsOf(text) });
  const ids = keyed.filter(({ kind }) => kind === "task" || ISSUE_KEY.test(text));
  if (ids.length > 0) return { matches: best(ids), isAmbiguous: false };
  const matches = best(await namedItems(open, text, keyed));
  return { matches, isAmbiguous: matches.length > 1 };
}

/** A number in a project is the same thing in every mirror: `ABC-12`, `acme/web#412`. */
const ISSUE_KEY = /^(?:[a-z][a-z0-9]*-\d{1,9}|\S+#\d{1,9})$/i;

/** Finds items by file name, path or title. Exact matches come before matches in other case. */
async function namedItems(open: OpenList, text: string, keyed: readonly ItemMatch[]): Promise<ItemMatch[]> {
  const titled = await visibleOf(open, { title: text });
  const found = new Map([...keyed, ...titled].map((match) => [match.kbId, match]));
  if (found.size > 0) {
    const all = [...found.values()];
    const exact = all.filter(({ key, title }) => key === text || title === text);
    return exact.length > 0 ? exact : all;
  }
  const segments = text.split("/").map((segment) => segment.trim());
  const name = segments.pop() ?? "";
  const folders = segments.filter((segment) => segment !== "" && segment !== ".");
  if (folders.length === 0 || name === "") return [];
  const files = await visibleOf(open, { keys: variantsOf(name) });
  return files.filter((file) => {
    const within = [...placeOfSource(file.source), ...file.path];
    return folders.every((folder, at) => within.at(at - folders.length) === folder);
  });
}

/**
 * Returns `filesystem:notes` or `github:acme/web` as the folders with which paths begin when they are copied from
 * elsewhere.
 */
function placeOfSource(source: string): string[] {
  return source.slice(source.indexOf(":") + 1).split("/");
}

const PAGE = 500;
/** More matches than anyone could choose from. */
const ENOUGH = 200;

/**
 * Returns the visible items that have a name. Access to every item with the name is checked before the list is cut, so
 * hidden items displace no visible ones.
 */
async function visibleOf({ store, accesses, viewer }: OpenList, asked: AskedItems): Promise<ItemMatch[]> {
  const visible: ItemMatch[] = [];
  for (let after: ItemMatch | undefined; visible.length < ENOUGH;) {
    const rows = await store.items.matches(asked, after, PAGE);
    const near = rows.filter(({ aclId }) => accesses.has(aclId));
    // The access lists in the store decide, as everywhere.
    const open = await store.access.visibleOf(
      near.map(({ aclId }) => aclId),
      viewer.principals,
    );
    visible.push(...near.filter(({ aclId }) => open.has(aclId)));
    after = rows.at(-1);
    if (rows.length < PAGE) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return visible;
}

async function visibleById(open: OpenList, kbId: string): Promise<ItemMatch[]> {
  const [access] = await open.store.items.accessOf([kbId]);
  if (access === undefined || access.isRemoved || !open.accesses.has(access.aclId)) return [];
  const records = await open.store.items.records([kbId]);
  return records.map((record) => ({ ...record, isRemoved: false }));
}

function sorted(
  matches: readonly ItemMatch[],
  {
    text,
    kinds,
    nearness = () => 0,
  }: { text: string; kinds: readonly KindLinks[]; nearness?: (match: ItemMatch) => number },
): ItemMatch[] {
  return matches.toSorted(
    (a, b) =>
      rank(a, text, kinds) - rank(b, text, kinds) ||
      nearness(a) - nearness(b) ||
      a.indexedAt - b.indexedAt ||
      (a.kbId < b.kbId ? -1 : 1),
  );
}

function variantsOf(text: string): string[] {
  return [...new Set([text, text.toUpperCase(), text.toLowerCase()])];
}

/** Returns the kbId of `<base>/i/<kbId>`. Any origin is accepted, because a server may be reachable under several. */
function permalinkId(address: string): string | undefined {
  return PERMALINK.exec(address)?.[1];
}

const PERMALINK = new RegExp(`^(?:https?://[^/?#]+)?/i/(kbi_[${ID_ALPHABET}]{16})/?(?:\\?.*)?$`, "i");

/** Splits a kbId or an address from the fragment after its `#`. Any other text has no fragment. */
function splitPlace(text: string): { address: string; place: string } {
  const at = /^(?:kbi_|https?:|\/i\/)/i.test(text) ? text.indexOf("#") : -1;
  if (at < 0) return { address: text, place: "" };
  const place = text.slice(at + 1);
  return { address: text.slice(0, at), place: text.startsWith("kbi_") ? place : decoded(place) };
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // A fragment that isn't encoded is used unchanged.
    return fragment;
  }
}

const NAMED = 5;

function fitsSeveral(asked: string, matches: readonly ItemMatch[]): ApiError {
  const shown = matches.slice(0, NAMED);
  const offered = shown.map((match) => {
    const place = placeOf(match) || cleanField(match.key ?? "", MAX_CHARS.key);
    return place === "" ? match.kbId : `${match.kbId} (${place})`;
  });
  const count = matches.length < ENOUGH ? matches.length : `at least ${ENOUGH}`;
  return new ApiError("invalid_argument", {
    message: `"${cleanLine(asked, 200)}" matches ${count} items: ${offered.join(", ")}. Call again with one of these kbIds.`,
    details: { kbIds: shown.map(({ kbId }) => kbId) },
  });
}

/**
 * Returns the forms in which the address of one thing may be stored: without fragment and tracking parameters, and with
 * and without a trailing slash. The rules of the kinds that own the host add more, such as a pull request for one of
 * its tabs.
 */
export function urlForms(text: string, kinds: readonly KindLinks[]): string[] {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    // A text that isn't an address has no other forms.
    return [text];
  }
  const forms = new Set([text, url.href]);
  url.hash = "";
  forms.add(url.href);
  const owners = kinds.filter((kind) => isAt(kind, url.hostname));
  const params = url.searchParams;
  const noise = [TRACKING, ...owners.flatMap(({ ignoredParams }) => ignoredParams ?? [])];
  const names = [...params.keys()];
  for (const name of names) if (noise.some((pattern) => pattern.test(name))) params.delete(name);
  forms.add(url.href);
  for (const { pattern, kept } of owners.flatMap(({ tails = [] }) => tails)) {
    url.pathname = url.pathname.replace(pattern, kept);
  }
  forms.add(url.href);
  const twins = [...forms].map((form) => (form.endsWith("/") ? form.slice(0, -1) : `${form}/`));
  return [...new Set([...forms, ...twins])];
}

const TRACKING = /^(?:utm_\w+|usp|gclid|fbclid|mc_[ce]id|plain|display)$/i;

function isAt({ hosts = [] }: KindLinks, host: string): boolean {
  return hosts.some((pattern) => pattern.test(host));
}

function rank(match: ItemMatch, text: string, kinds: readonly KindLinks[]): number {
  const kind = kinds.find(({ providerId }) => providerId === match.providerId);
  if (kind?.isPushed === true) return 2;
  const host = /^https?:\/\/([^/:?#]+)/i.exec(text)?.[1]?.toLowerCase() ?? "";
  return kind && isAt(kind, host) ? 0 : 1;
}
