import type { FileAccess } from "#api/files.ts";

type List = Pick<FileAccess["lists"][number], "chain" | "principals" | "size" | "origin">;
type Names = Readonly<Record<string, string>>;

/** Returns why the reader may see an item, with a sentence for each access list that includes them. */
export function whyVisible(lists: readonly List[], names: Names): string[] {
  const reasons = lists.flatMap(({ chain }) => (chain === null ? [] : [reasonOf(chain, names)]));
  const unique = [...new Set(reasons)];
  // "For everyone" isn't shown next to a more specific reason.
  const telling = unique.filter((reason) => reason !== FOR_EVERYBODY);
  return telling.length > 0 ? telling : unique;
}

const FOR_EVERYBODY = "everyone in the workspace can";

/** Describes who is on a list; null if the reader may not know. */
export function whoIn({ principals, size }: List, names: Names): string | null {
  if (principals === null) return null;
  const named = principals.map((principal) => nameOf(principal, names));
  const rest = size - principals.length;
  return [...new Set(named), ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
}

/** Returns the reason for a chain, which leads from the person to the principal on the list. */
function reasonOf(chain: readonly string[], names: Names): string {
  const [first = "", ...others] = chain;
  const last = others.at(-1);
  const through = last === undefined ? "" : ` can read ${nameOf(last, names)}`;
  const isConnector = last?.startsWith("group:connector:") === true;
  const via = others.slice(0, isConnector ? -1 : undefined).map((one) => nameOf(one, names));
  if (first === "everyone" && !isConnector) return "everyone can read it at the source";
  if (first === "workspace" || first === "everyone") {
    return isConnector ? `everyone in the workspace${through}` : FOR_EVERYBODY;
  }
  // A source's nested groups have no names here, so the sentence says only that the source's own permissions admit the
  // reader.
  if (via.length > 0 && via.every((one) => one === SOURCE_USER || one === SOURCE_GROUP)) {
    return isConnector ? `your user at the source${through}` : "your user at the source can read it";
  }
  if (via.length > 0) return `you are in ${via.join(", which is in ")}${isConnector ? `, which${through}` : ""}`;
  return isConnector ? `you${through}` : "it is shared with you";
}

function nameOf(principal: string, names: Names): string {
  if (principal === "workspace" || principal === "everyone") return "Everyone in the workspace";
  const [type, second = "", third] = principal.split(":");
  if (type === "user" && third === undefined) return names[second] ?? "a former member";
  if (type === "group" && third === undefined) return `the group ${names[second] ?? "(deleted)"}`;
  if (second === "connector") return `the connector ${names[third ?? ""] ?? "(deleted)"}`;
  if (second === "connection") return "a connection";
  return type === "user" ? SOURCE_USER : SOURCE_GROUP;
}

const SOURCE_USER = "a user in the source";
const SOURCE_GROUP = "a group in the source";
