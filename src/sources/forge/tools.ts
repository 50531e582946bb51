import { z } from "zod";
import { byNumber, type Containers, makeContainers } from "#sources/containers.ts";
import type { SyncContext } from "#sources/context.ts";
import { type Failures, makeFailures } from "#sources/failures.ts";
import { COMMENT_LISTS, type CommentList, type Forge, type ForgeRepository } from "./contract.ts";
import { type AtHand, FilesState, type ForgeFiles } from "./files.ts";
import { repositoryRef } from "./ids.ts";
import type { ForgeFacts } from "./map.ts";

/** The dependencies of a run. */
export interface ForgeTools {
  ctx: SyncContext<unknown>;
  forge: Forge;
  facts: ForgeFacts;
  files: ForgeFiles;
  hand: AtHand;
  failures: Failures;
  repositories: Containers<ForgeRepository>;
}

export function makeTools(ctx: SyncContext<unknown>, parts: Pick<ForgeTools, "forge" | "facts" | "files">): ForgeTools {
  const failures = makeFailures(() => parts.forge.probe());
  const repositories = makeContainers<ForgeRepository>(ctx, {
    key: "read",
    refOf: (id) => repositoryRef({ id }),
    nameOf: ({ fullName }) => fullName,
    labelOf,
    compare: byNumber,
    hasFeeds: true,
    countedAs: (id) => repositoryRef({ id }).id,
    forget: (id) => ctx.state.put(stateKey(id), undefined),
    failures,
  });
  return { ...parts, ctx, hand: {}, failures, repositories };
}

/** Returns the label in the items of a repository. When the label changes, all items are built again. */
export function labelOf({ fullName, owner, content }: ForgeRepository): string {
  return [fullName, `${owner.id} ${owner.login}`, [...content].sort().join()].join("\n");
}

/** The stored state of a repository that was read in full. */
const RepositoryState = z.object({
  /** Changes before this time were reported. */
  since: z.number(),
  /** The number of threads, and the highest number among them. */
  total: z.number(),
  last: z.number(),
  /** For lists that failed: the time from which they are read, in place of `since`; 0 = from the beginning. */
  behind: z.partialRecord(z.enum(["threads", ...COMMENT_LISTS]), z.number()).optional(),
  /** The position of the repository's files. */
  files: FilesState.optional(),
});
export type RepositoryState = z.infer<typeof RepositoryState>;

/** Returns the time from which changes in a list are read; 0 = nothing in the list was read. */
export function positionOf({ since, behind }: RepositoryState, list: "threads" | CommentList): number {
  return behind?.[list] ?? since;
}

function stateKey(id: string): string {
  return `repository:${id}`;
}

export async function findState({ state }: ForgeTools["ctx"], { id }: ForgeRepository) {
  return RepositoryState.safeParse(await state.get(stateKey(id))).data;
}

export function putState({ state }: ForgeTools["ctx"], { id }: ForgeRepository, known: RepositoryState): void {
  state.put(stateKey(id), known);
}
