/**
 * Between the externalId of a file and the id of a file inside it. Paths and keys of sources hold no `!//` (a path has
 * no empty segment), and items of sources with it are refused, so the id of a part is never that of another item.
 */
export const PART_MARK = "!//";
/** Ids stand in URLs, logs and indexes: longer ones end in a digest. */
const MAX_PART_ID_LENGTH = 400;

/** Most bytes of all parts of one item. */
export const MAX_PART_BYTES = 64 * 1_048_576;

/** The externalId of a file inside a file. `digest` gives some characters that differ for different texts. */
export function partExternalId(parentId: string, id: string, digest: (text: string) => string): string {
  const flat = id.replaceAll(/\/{2,}/gu, "/").replace(/^\//u, "");
  const isPlain = flat === id && id.length <= MAX_PART_ID_LENGTH && !id.includes("!/") && !id.endsWith("!");
  const short = isPlain ? id : `${flat.replaceAll("!", "_").slice(0, MAX_PART_ID_LENGTH)}~${digest(id)}`;
  return `${parentId}${PART_MARK}${short}`;
}

/** Stands right before the ids of all parts of an item, in the order of ids. */
export function beforeParts(parentId: string): string {
  return `${parentId}${PART_MARK}`;
}

/** True for the id of a part that this program made, at any depth. */
export function isPartId(externalId: string): boolean {
  return externalId.includes(PART_MARK);
}

/** True when `externalId` is a part of `parentId`, or a part of one of its parts. */
export function isInside(parentId: string, externalId: string): boolean {
  return externalId.startsWith(`${parentId}${PART_MARK}`);
}

/** The item of the source that a part is in; any other id is its own. */
export function outermostId(externalId: string): string {
  const at = externalId.indexOf(PART_MARK);
  return at < 0 ? externalId : externalId.slice(0, at);
}

/** The item that a part is directly in; undefined for what is no part. */
export function parentOfPart(externalId: string): string | undefined {
  const at = externalId.lastIndexOf(PART_MARK);
  return at < 0 ? undefined : externalId.slice(0, at);
}
