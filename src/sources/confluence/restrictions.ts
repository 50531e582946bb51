import { Restriction } from "./records.ts";

/** A reader that a restriction names. An unrecognized reader is `unknown`, and still counts as a restriction. */
export type Subject = { type: "user" | "group"; id: string } | { type: "unknown" };

/** A page's own read restrictions. Empty = the page itself isn't restricted. */
export type Subjects = readonly Subject[];

/** Parses a restriction. Undefined if it is truncated or can't be parsed: it then has to be requested individually. */
export function readRestriction(answer: unknown, cloud: boolean): Subjects | undefined {
  const { data } = Restriction.safeParse(answer);
  if (!data) return undefined;
  const { user, group } = data.restrictions;
  if (isCut(user) || isCut(group)) return undefined;
  return toSubjects(data, cloud);
}

export function toSubjects({ restrictions: { user, group } }: Restriction, cloud: boolean): Subjects {
  const ofKind = (type: "user" | "group", records: readonly unknown[], keys: readonly string[]): Subject[] =>
    records.map((record) => {
      for (const key of keys) {
        const id: unknown =
          typeof record === "object" && record !== null ? (record as Record<string, unknown>)[key] : "";
        if (typeof id === "string" && id !== "") return { type, id };
      }
      return { type: "unknown" };
    });
  return [
    ...ofKind("user", user.results, cloud ? ["accountId"] : ["userKey"]),
    ...ofKind("group", group.results, cloud ? ["id"] : ["name"]),
  ];
}

/** Whether the server may have left out some of the readers. */
function isCut({ results, size, limit }: Restriction["restrictions"]["user"]): boolean {
  if (size !== undefined && size > results.length) return true;
  return results.length > 0 && (limit === undefined || results.length >= limit);
}
