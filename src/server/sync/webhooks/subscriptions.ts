import { defined } from "#core/defined.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { WebhookSubscription } from "#sources/webhook.ts";
import { backOffMs, type ClaimedJob } from "#storage/records/queue.ts";
import type { WebhookSubscriptionRecord } from "#storage/records/webhook-subscriptions.ts";
import { makeContext, type SyncDeps } from "#server/sync/deps.ts";
import { toProblem } from "#server/sync/problem.ts";

/** The share of a subscription's lifetime after which it is renewed. The remaining quarter leaves time for retries. */
const RENEWED_AFTER = 0.75;
const LEAST_LIFE_MS = 60_000;
const MOST_CHARS = 4_096;
/** The longest time that an unresponsive provider delays the deletion of a connector. */
const END_MS = 20_000;

/**
 * Makes a connector's subscription, or renews it. The new subscription is stored before the previous one is ended, so
 * that there is no gap. If this process ends before the new one is stored, another is made.
 */
export async function subscribe(
  deps: SyncDeps,
  { workspaceId }: Pick<ClaimedJob, "workspaceId">,
  connectorId: string,
  signal: AbortSignal,
): Promise<void> {
  const { store, now, randomBytes, log } = deps;
  const { connectors, webhookSubscriptions } = store.in(workspaceId);
  const connector = await connectors.find(connectorId);
  const source = connector && (await deps.findSource(connector.providerId));
  if (connector?.state !== "active" || !source?.webhook?.subscribe || !deps.subscribing) return;
  const former = await webhookSubscriptions.find(connectorId);
  const { secret, madeAt: secretMadeAt } = await deps.subscribing.secretFor(workspaceId, connectorId);
  const common = { connectorId, scopeVersion: connector.scopeVersion, secretMadeAt };
  try {
    const context = await makeContext(deps, workspaceId, source, connector, signal);
    const url = deps.subscribing.urlOf(connector);
    const made = await source.webhook.subscribe(context, { url, secret });
    const next = { ...common, ...toRecord(made, now()) };
    const isKept = await store.transaction(async (tx) => {
      const today = await tx.in(workspaceId).connectors.find(connectorId);
      if (!today || today.state === "deleting") return false;
      await tx.in(workspaceId).webhookSubscriptions.put(next);
      return true;
    });
    log.info({ connectorId, expiresAt: next.expiresAt, isKept }, "A webhook was subscribed to");
    const over = isKept ? former : next;
    const isOther = over?.data !== next.data || !isKept;
    if (over && isOther && isLiving(over, now())) await end(deps, source, context, over);
  } catch (error) {
    if (signal.aborted) throw error;
    const tries = (former?.tries ?? 0) + 1;
    const problem = toProblem(error);
    log.warn({ connectorId, tries, problem }, "A webhook could not be subscribed to");
    const wait = Math.max(backOffMs(tries, (randomBytes(1)[0] ?? 0) / 255), problem.retryAfterMs ?? 0);
    const kept = { data: former?.data ?? null, expiresAt: former?.expiresAt ?? null };
    await webhookSubscriptions.put({ ...common, ...kept, tries, problem, dueAt: now() + wait });
  }
}

/** Ends the subscription of a connector that is being deleted, if possible, and removes its credentials. */
export async function unsubscribe(
  deps: SyncDeps,
  { workspaceId }: Pick<ClaimedJob, "workspaceId">,
  connectorId: string,
  signal: AbortSignal,
): Promise<void> {
  const { connectors, webhookSubscriptions } = deps.store.in(workspaceId);
  const subscription = await webhookSubscriptions.find(connectorId);
  if (!subscription) return;
  const connector = await connectors.find(connectorId);
  const source = connector && (await deps.findSource(connector.providerId));
  if (source && isLiving(subscription, deps.now())) {
    const until = AbortSignal.any([signal, AbortSignal.timeout(END_MS)]);
    try {
      await end(deps, source, await makeContext(deps, workspaceId, source, connector, until), subscription);
    } catch (error) {
      deps.log.warn({ connectorId, problem: toProblem(error) }, "A webhook could not be unsubscribed from");
    }
    // When the job is released, the next worker that claims it tries again.
    signal.throwIfAborted();
  }
  await deps.store.transaction(async (tx) => {
    await tx.in(workspaceId).webhookSubscriptions.remove(connectorId);
    await tx.in(workspaceId).connectors.deleteCredentials(connectorId);
  });
}

/**
 * Ends a subscription. If that fails, the subscription expires by itself, or notifies a URL that no longer belongs to a
 * connector.
 */
async function end(
  { log }: Pick<SyncDeps, "log">,
  { webhook }: Source,
  context: SourceContext<unknown>,
  { connectorId, data }: Pick<WebhookSubscriptionRecord, "connectorId" | "data">,
): Promise<void> {
  try {
    if (data !== null) await webhook?.unsubscribe?.(context, JSON.parse(data));
  } catch (error) {
    log.warn({ connectorId, problem: toProblem(error) }, "A webhook could not be unsubscribed from");
  }
}

function isLiving({ data, expiresAt }: Pick<WebhookSubscriptionRecord, "data" | "expiresAt">, now: number): boolean {
  return data !== null && (expiresAt === null || expiresAt > now);
}

/** @throws Error if the source's `data` is too large, which is a fault of the source */
function toRecord(made: WebhookSubscription | undefined, now: number) {
  const none = { data: null, expiresAt: null, dueAt: null, tries: 0, problem: null };
  if (!made) return none;
  const data = JSON.stringify(made.data ?? null);
  if (data.length > MOST_CHARS) throw new Error(`A subscription of ${data.length} characters is too large.`);
  const { expiresAt } = made;
  const life = expiresAt === undefined ? undefined : Math.max(LEAST_LIFE_MS, (expiresAt - now) * RENEWED_AFTER);
  const dueAt = life === undefined ? undefined : now + life;
  return { ...none, data, ...defined({ expiresAt, dueAt }) };
}
