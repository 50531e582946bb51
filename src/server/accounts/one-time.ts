import type { Parts } from "#storage/records/parts.ts";
import { hashSecret, randomSecret } from "#core/secrets.ts";
import type { AccountFlowRecord, FlowStage } from "#storage/records/accounts.ts";
import { sealedIn } from "#storage/vault.ts";

export type OneTime = ReturnType<typeof makeOneTime>;

/** Secrets that each work once, within 10 minutes. The content stored with a secret is sealed by the vault. */
export function makeOneTime(options: Pick<Parts, "store" | "clock" | "randomBytes" | "vault">) {
  const { store, clock, randomBytes, vault } = options;

  function open(flow: AccountFlowRecord | undefined): OpenedFlow | undefined {
    if (!flow || flow.expiresAt <= clock.now()) return undefined;
    return { ...flow, content: contentOf(flow) };
  }

  function contentOf({ flowHash, sealed }: Pick<AccountFlowRecord, "flowHash" | "sealed">): unknown {
    return JSON.parse(vault.open(placeOf(flowHash), sealed));
  }

  async function insert(stage: FlowStage, name: string, { content, ...of }: KeptFlow, lifetimeMs: number) {
    const flowHash = hashSecret(name);
    const createdAt = clock.now();
    const sealed = vault.seal(placeOf(flowHash), JSON.stringify(content));
    await store.transaction(async (tx) => {
      await tx.accountFlows.sweep(createdAt);
      await tx.accountFlows.insert({ flowHash, stage, ...of, sealed, createdAt, expiresAt: createdAt + lifetimeMs });
    });
  }

  return {
    /** @returns the secret; only its hash is stored */
    async begin(stage: AccountFlowRecord["stage"], { content, ...of }: KeptFlow): Promise<string> {
      const secret = randomSecret(randomBytes);
      await insert(stage, secret, { content, ...of }, FLOW_MS);
      return secret;
    },
    /** Stores content under a name, replacing the previous content, for `lifetimeMs`. */
    async put(stage: FlowStage, name: string, kept: KeptFlow, lifetimeMs: number): Promise<void> {
      await store.accountFlows.remove(hashSecret(name));
      await insert(stage, name, kept, lifetimeMs);
    },
    /** Reads a flow, which can be read again. Undefined if the flow is unknown, used or expired. */
    async find(stage: AccountFlowRecord["stage"], secret: string): Promise<OpenedFlow | undefined> {
      return open(await store.accountFlows.find(hashSecret(secret), stage));
    },
    /**
     * Revokes tokens that weren't confirmed in time. Then deletes the flow, even if revoking failed.
     *
     * @param giveBack revokes the tokens at their provider; doesn't reject when the provider can't be reached
     */
    async endLapsed(flowHash: string, giveBack: (flow: OpenedFlow) => Promise<void>): Promise<void> {
      const flow = await store.accountFlows.findLapsed(flowHash, clock.now());
      if (!flow) return;
      try {
        await giveBack({ ...flow, content: contentOf(flow) });
      } finally {
        await store.accountFlows.remove(flowHash);
      }
    },
    /** Reads and deletes the flow. Only the first caller gets it. */
    async take(stage: AccountFlowRecord["stage"], secret: string): Promise<OpenedFlow | undefined> {
      return open(await store.accountFlows.take(hashSecret(secret), stage, clock.now()));
    },
  };
}

/** The owner and the content of a flow. */
type KeptFlow = Pick<AccountFlowRecord, "workspaceId" | "userId" | "sessionId" | "providerId" | "returnTo"> & {
  content: object;
};

/** A stored flow with its content, not validated. */
export interface OpenedFlow extends AccountFlowRecord {
  content: unknown;
}

/** Lifetime of a flow, in milliseconds. */
export const FLOW_MS = 10 * 60_000;

const placeOf = sealedIn("account_flows");
