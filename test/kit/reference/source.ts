import { z } from "zod";
import type { Scope } from "#core/scope.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { FileContent } from "#sources/item.ts";
import { baseUrlOf } from "#sources/base-url.ts";
import { inScopeBy, isNamedIn } from "#sources/in-scope.ts";
import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import { makeClient, ReferenceConfig } from "./client.ts";
import { syncReferencePeople } from "./people.ts";
import { referenceSessions } from "./sync.ts";
import { referenceWebhook } from "./webhook.ts";

type Context = SourceContext<ReferenceConfig>;

/**
 * The source that shows how one is written: pages of spaces with their comments, who may read them, and what changes.
 * Every choice that a source has to make is made here once, with its reason.
 */
export function makeReferenceSource() {
  return {
    spec: {
      providerId: "reference",
      name: "Reference",
      kinds: ["page", "message"],
      auth: [{ type: "credentials", scheme: "bearer", token: "token" }],
      credentials: z.strictObject({ token: z.string().min(1).meta({ format: "password" }) }),
      config: ReferenceConfig,
      acl: "container",
      // A wiki of a company takes a lot; what it takes is known where it says so.
      limits: { perMinute: 60_000, burst: 10_000 },
      // Each move of a page is in the feed, and who is in a group is told by itself.
      freshness: "feed",
      hasPeople: true,
      isPeopleFeedGapless: true,
    },
    check,
    sessions: { ...referenceSessions, batching: { everyMs: 0 } },
    browse,
    fetchContent,
    countAdded,
    inScope: inScopeBy("space"),
    baseUrlOf,
    syncIdentities: syncReferencePeople,
    webhook: referenceWebhook,
  } satisfies Source<ReferenceConfig>;
}

/** A page has its pages' ids, so that to count them reads no text. */
async function countAdded(ctx: Context, { from, to }: { from: Scope; to: Scope }) {
  const client = makeClient(ctx);
  let [items, calls] = [0, 0];
  for await (const spaces of client.spaces()) {
    for (const { id } of spaces.known) {
      if (!isNamedIn(to, id) || isNamedIn(from, id)) continue;
      for await (const pages of client.pagesOf(id, "")) [items, calls] = [items + pages.size, calls + 1];
    }
  }
  return { items, calls };
}

function check(ctx: Context): Promise<CheckOutcome> {
  const words: FailureWords = {
    source_unauthorized: { code: "auth_required", field: "credentials" },
    otherwise: { code: "unreachable", field: "url" },
  };
  return runCheck(ctx, words, async () => {
    await makeClient(ctx).me();
    return { warnings: [] };
  });
}

async function fetchContent(ctx: Context, { externalId }: { externalId: string }): Promise<FileContent> {
  const { text, revision } = await makeClient(ctx).text(externalId);
  return {
    bytes: Buffer.from(text),
    fileName: `${externalId}.md`,
    mimeType: "text/markdown",
    version: String(revision),
  };
}

async function browse(ctx: Context, { parent }: { parent: string | null }): ReturnType<NonNullable<Source["browse"]>> {
  const nodes = [];
  for await (const spaces of parent === null ? makeClient(ctx).spaces() : []) {
    for (const { id, name } of spaces.known) {
      nodes.push({ id, parent, title: name, kind: "space", selectable: true, expandable: false });
    }
  }
  return { nodes, nextCursor: null };
}
