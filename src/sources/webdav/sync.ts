import { defined } from "#core/defined.ts";
import { z } from "zod";
import { compileScope } from "#sources/file-scope/scope.ts";
import type { SyncContext } from "#sources/context.ts";
import { failedSkip, leftOut, refused } from "#sources/failures.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { PageEntry, SessionSpec, WalkEnd, WalkEvent, WalkRequest } from "#sources/session.ts";
import { type DavClient, isOfOneThing, isPath, makeClient } from "./client.ts";
import type { WebdavConfig } from "./config.ts";
import { type CollectionFacts, factsOf, folderRef, toItem, versionOf } from "./map.ts";
import { type LeftOut, walk, type WalkOptions, type WalkStep, whyLeftOut } from "./walk.ts";

/** Everything up to this id was named. */
const Checkpoint = z.object({ after: z.string() });
type Checkpoint = z.infer<typeof Checkpoint>;

/** No feed of changes is common to all servers: every run walks through everything. */
export const webdavSessions: SessionSpec<WebdavConfig, null, Checkpoint> = {
  cursor: z.null(),
  checkpoint: Checkpoint,
  open(ctx, { scope }) {
    const tools: Tools = {
      ctx,
      client: makeClient(ctx),
      facts: factsOf(ctx.config, ctx.connector.id),
      scope: compileScope(scope),
      secretFiles: ctx.config.secretFiles,
    };
    return Promise.resolve({
      walk: (run) => walkCollection(tools, run),
      async *read(externalIds) {
        for (const externalId of externalIds) yield* readOne(tools, externalId);
      },
    });
  },
};

interface Tools extends Pick<WalkOptions, "scope" | "secretFiles"> {
  ctx: SyncContext<WebdavConfig>;
  client: DavClient;
  facts: CollectionFacts;
}

async function* walkCollection(
  { ctx, facts, ...tools }: Tools,
  { resume }: WalkRequest<null, Checkpoint>,
): AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<null>> {
  for await (const step of walk({ ...tools, signal: ctx.signal, after: resume?.after ?? null })) {
    const after = placeOf(step);
    const listings = step.type === "folder" ? 1 : 0;
    yield {
      t: "page",
      entries: entriesOf(step, facts),
      listings,
      ...(after !== undefined && { checkpoint: { after } }),
    };
  }
  return { complete: true, cursor: null, permissions: "current" };
}

/** The id that a walk can resume after. A failed one may be a folder above the current position. */
function placeOf(step: WalkStep): string | undefined {
  switch (step.type) {
    case "file":
      return step.entry.rel;
    case "folder":
      return `${step.rel}/`;
    case "left_out":
      return step.isFolder ? `${step.rel}/` : step.rel;
    case "failed":
      return undefined;
  }
}

function entriesOf(step: WalkStep, facts: CollectionFacts): PageEntry[] {
  switch (step.type) {
    case "folder":
      return [];
    case "file": {
      const { entry, now } = step;
      const version = versionOf(entry, now, facts.configKey);
      const build = () => toItem(entry, now, facts);
      return [{ externalId: entry.rel, ...defined({ version }), build }];
    }
    case "left_out":
      return [skipOf(step.rel, step.reason)];
    case "failed": {
      const { rel, error } = step;
      const container = folderRef(rel);
      // A path that could not be read may be a file or a folder; the stored items of either stay.
      if (error?.code === "source_forbidden")
        return [{ container }, { externalId: rel }].map((what) => ({ t: "refused", what, code: "source_forbidden" }));
      const message = error?.message ?? "The server can't describe it right now.";
      return [{ t: "failed", what: { container }, message, as: rel }];
    }
  }
}

function skipOf(externalId: string, reason: LeftOut): Outcome {
  const isDeep = reason === "too_deep";
  return leftOut(externalId, isDeep ? "excluded_by_policy" : reason, MESSAGES[reason]);
}

const MESSAGES: Readonly<Record<LeftOut, string>> = {
  excluded_by_scope: "The connector's scope leaves it out.",
  excluded_by_policy: "The name suggests keys or passwords.",
  too_deep: "The folder contains itself, or is too deep.",
};

async function* readOne({ ctx, client, facts, ...options }: Tools, externalId: string): AsyncGenerator<Outcome, void> {
  if (!isPath(externalId)) return yield { t: "delete", externalId };
  const reason = whyLeftOut(options, externalId);
  if (reason !== undefined) return yield skipOf(externalId, reason);
  try {
    const { now, ...entry } = await client.stat(externalId);
    yield entry.isFolder ? { t: "delete", externalId } : { t: "upsert", item: toItem(entry, now, facts) };
  } catch (error) {
    if (!isOfOneThing(error)) throw error;
    if (error?.code === "source_forbidden") {
      yield refused(externalId, "source_forbidden");
    } else if (error.code === "source_unavailable" || error.code === "payload_too_large") {
      yield failedSkip(externalId, error.message);
    } else {
      yield { t: "delete", externalId };
      const below = await ctx.stored.list(folderRef(externalId))[Symbol.asyncIterator]().next();
      if (!below.done) yield { t: "delete_container", ...folderRef(externalId) };
    }
  }
}
