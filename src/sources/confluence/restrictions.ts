import { Restriction } from "./records.ts";

/** Whom a restriction lets in; one that can't be told apart is `unknown`, and is a restriction all the same. */
export type Subject = { type: "user" | "group"; id: string } | { type: "unknown" };

/** What restricts the reading of a page itself. Nobody in it = it is open. */
export type Subjects = readonly Subject[];

/** Undefined for what is not whole, or not understood: then it has to be asked for by itself. */
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

/** Whether more may be in it than it gives. */
function isCut({ results, size, limit }: Restriction["restrictions"]["user"]): boolean {
  if (size !== undefined && size > results.length) return true;
  return results.length > 0 && (limit === undefined || results.length >= limit);
}
