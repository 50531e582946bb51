/**
 * Separates the externalId of a file from the id of a file inside it. Paths and keys of sources contain no `!//` (a
 * path has no empty segment), and items whose id contains it are refused. So the id of a child item is never that of
 * another item.
 */
export const CHILD_MARK = "!//";
/**
 * The ids of everything inside an item sort before the item's id with this suffix, because "0" is the character after
 * "/".
 */
export const AFTER_CHILDREN = `${CHILD_MARK.slice(0, -1)}0`;
/** Limit of a child item's id, because ids are used in URLs, logs and indexes. A longer id ends in a digest. */
const MAX_CHILD_ID_LENGTH = 400;

/** Limit in bytes of all child items of one item together. */
export const MAX_CHILD_BYTES = 64 * 1_048_576;

/**
 * Returns the externalId of a file inside a file. `digest` returns a few characters that differ for different texts.
 */
export function childExternalId(parentId: string, id: string, digest: (text: string) => string): string {
  const flat = id.replaceAll(/\/{2,}/gu, "/").replace(/^\//u, "");
  const isPlain = flat === id && id.length <= MAX_CHILD_ID_LENGTH && !id.includes("!/") && !id.endsWith("!");
  const short = isPlain ? id : `${flat.replaceAll("!", "_").slice(0, MAX_CHILD_ID_LENGTH)}~${digest(id)}`;
  return `${parentId}${CHILD_MARK}${short}`;
}

/** Returns an id that sorts right before the ids of all child items of an item. */
export function beforeChildren(parentId: string): string {
  return `${parentId}${CHILD_MARK}`;
}

/** True for an id of a child item, at any depth, that this program made. */
export function isChildId(externalId: string): boolean {
  return externalId.includes(CHILD_MARK);
}

/** True when `externalId` is a child item of `parentId`, or a child item of one of its child items. */
export function isInside(parentId: string, externalId: string): boolean {
  return externalId.startsWith(`${parentId}${CHILD_MARK}`);
}

/** Returns the source's item that contains a child item; returns any other id unchanged. */
export function outermostId(externalId: string): string {
  const at = externalId.indexOf(CHILD_MARK);
  return at < 0 ? externalId : externalId.slice(0, at);
}

/** Returns the item that directly contains a child item; undefined if the id isn't one of a child item. */
export function parentOfChild(externalId: string): string | undefined {
  const at = externalId.lastIndexOf(CHILD_MARK);
  return at < 0 ? undefined : externalId.slice(0, at);
}
