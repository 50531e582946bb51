import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { INVITATIONS, MEMBERS } from "#storage/tables/people.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";
import { API_TOKENS } from "#storage/tables/credentials.ts";
import { ITEMS } from "#storage/tables/items.ts";

/** How much one workspace holds. */
export function makeUsageStore({ read }: SqlHandles, workspaceId: string) {
  const countOf = async (query: { executeTakeFirstOrThrow(): Promise<{ count: number | string | bigint }> }) =>
    Number((await query.executeTakeFirstOrThrow()).count);

  async function countMembers(now: number): Promise<number> {
    const members = inWorkspace({ read }, workspaceId, MEMBERS)
      .select()
      .select(({ fn }) => fn.countAll<number>().as("count"));
    const invited = inWorkspace({ read }, workspaceId, INVITATIONS)
      .select({ acceptedAt: null, revokedAt: null })
      .select(({ fn }) => fn.countAll<number>().as("count"))
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
            inWorkspace({ read }, workspaceId, CONNECTORS)
              .select()
              .select(({ fn }) => fn.countAll<number>().as("count"))
              .where("state", "<>", "deleting"),
          );
        case "tokens":
          return countOf(
            inWorkspace({ read }, workspaceId, API_TOKENS)
              .select({ revokedAt: null })
              .select(({ fn }) => fn.countAll<number>().as("count"))
              .where((eb) => eb.or([eb("expiresAt", "is", null), eb("expiresAt", ">", now)])),
          );
      }
    },

    /** Living items and the UTF-16 code units of their texts; reads a row of each. */
    async items(): Promise<{ items: number; textChars: number }> {
      const { items, textChars } = await inWorkspace({ read }, workspaceId, ITEMS)
        .select({ removedAt: null })
        .select(({ fn }) => [fn.countAll<number>().as("items"), fn.sum<number | null>("textChars").as("textChars")])
        .executeTakeFirstOrThrow();
      return { items: Number(items), textChars: Number(textChars ?? 0) };
    },
  };
}
