import type { SourceProblem } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { WebhookSubscriptionsTable } from "#storage/schema.ts";

/** The subscription of a connector at its provider, or why there is none. */
export interface WebhookSubscriptionRecord extends Omit<WebhookSubscriptionsTable, "workspaceId" | "problem"> {
  problem: SourceProblem | null;
}

/** Subscriptions of the workspace's connectors to notifications of their apps. */
export function makeWebhookSubscriptionStore(sql: SqlHandles, workspaceId: string) {
  return {
    async find(connectorId: string): Promise<WebhookSubscriptionRecord | undefined> {
      const row = await sql.read
        .selectFrom("webhook_subscriptions")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .executeTakeFirst();
      if (!row) return undefined;
      const { workspaceId: _, problem, ...rest } = row;
      // Written by `put` only.
      return { ...rest, problem: problem === null ? null : (JSON.parse(problem) as SourceProblem) };
    },

    /** Replaces the one before. */
    async put({ connectorId, problem, ...rest }: WebhookSubscriptionRecord): Promise<void> {
      const row = { ...rest, problem: problem && JSON.stringify(problem) };
      await sql.write
        .insertInto("webhook_subscriptions")
        .values({ workspaceId, connectorId, ...row })
        .onConflict((oc) => oc.columns(["workspaceId", "connectorId"]).doUpdateSet(row))
        .execute();
    },
    async remove(connectorId: string): Promise<void> {
      await sql.write
        .deleteFrom("webhook_subscriptions")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },
  };
}
