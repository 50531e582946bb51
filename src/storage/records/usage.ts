import type { SqlHandles } from "#storage/handles.ts";

/** How much one workspace holds. */
export function makeUsageStore({ read }: SqlHandles, workspaceId: string) {
  const countOf = async (query: { executeTakeFirstOrThrow(): Promise<{ count: number | string | bigint }> }) =>
    Number((await query.executeTakeFirstOrThrow()).count);

  async function countMembers(now: number): Promise<number> {
    const members = read
      .selectFrom("members")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("workspaceId", "=", workspaceId);
    const invited = read
      .selectFrom("invitations")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("workspaceId", "=", workspaceId)
      .where("acceptedAt", "is", null)
      .where("revokedAt", "is", null)
      .where("expiresAt", ">", now);
    return (await countOf(members)) + (await countOf(invited));
  }

  return {
    /** Connectors that are not being deleted, members with open invitations, active tokens. */
    async count(what: "connectors" | "members" | "tokens", now: number): Promise<number> {
      switch (what) {
        case "members":
          return countMembers(now);
        case "connectors":
          return countOf(
            read
              .selectFrom("connectors")
              .select(({ fn }) => fn.countAll<number>().as("count"))
              .where("workspaceId", "=", workspaceId)
              .where("state", "<>", "deleting"),
          );
        case "tokens":
          return countOf(
            read
              .selectFrom("api_tokens")
              .select(({ fn }) => fn.countAll<number>().as("count"))
              .where("workspaceId", "=", workspaceId)
              .where("revokedAt", "is", null)
              .where((eb) => eb.or([eb("expiresAt", "is", null), eb("expiresAt", ">", now)])),
          );
      }
    },

    /** Living items and the UTF-16 code units of their texts; reads a row of each. */
    async items(): Promise<{ items: number; textChars: number }> {
      const { items, textChars } = await read
        .selectFrom("items")
        .select(({ fn }) => [fn.countAll<number>().as("items"), fn.sum<number | null>("textChars").as("textChars")])
        .where("workspaceId", "=", workspaceId)
        .where("removedAt", "is", null)
        .executeTakeFirstOrThrow();
      return { items: Number(items), textChars: Number(textChars ?? 0) };
    },
  };
}
