import type { ContainerEvent } from "#sources/containers.ts";
import { refusalOf, refusedContainer } from "#sources/failures.ts";
import type { ForgeRepository } from "./contract.ts";
import type { FilesState } from "./files.ts";
import { filesRef } from "./ids.ts";
import { readList } from "./lists.ts";
import { findState, type ForgeTools, putState } from "./tools.ts";

/** The position of a walk, which changes while files are yielded and stays valid however the walk ends. */
interface Begun {
  state: FilesState | undefined;
}

interface FilesRun<At> {
  state?: FilesState | undefined;
  at?: At;
  /** True = the end of the run removes files that the walk didn't name. */
  isSwept?: boolean;
}

/**
 * Reports files that are new since this state, or all files if there is no state. Returns undefined if there are no
 * files, or if none are visible.
 */
export async function* reportFiles<At>(
  tools: ForgeTools,
  repository: ForgeRepository,
  { state, at, isSwept = false }: FilesRun<At>,
): AsyncGenerator<ContainerEvent<At>, FilesState | undefined> {
  if (!repository.content.has("files") || repository.branch === undefined) return undefined;
  const begun = { state };
  const isNew = (state?.base ?? null) === null;
  try {
    yield* readList(
      tools,
      repository,
      { name: "files", isNew, mayWait: !at },
      walk(tools, repository, { begun, at, isSwept }),
    );
    return begun.state;
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) throw error;
    // The repository's issues may still be readable for this account.
    yield refusedContainer(filesRef(repository), code);
    return undefined;
  }
}

async function* walk<At>(
  { ctx, files, facts, forge, hand }: ForgeTools,
  repository: ForgeRepository,
  { begun, at, isSwept }: { begun: Begun; at: At | undefined; isSwept: boolean },
): AsyncGenerator<ContainerEvent<At>, void> {
  const { state } = begun;
  const head = await forge.head(repository);
  if (head === undefined) begun.state = undefined;
  if (head === undefined || (state && head === state.base && !state.left)) return;
  const { cursor, complete } = yield* files.walk(ctx, repository, {
    facts,
    forge,
    at,
    hand,
    state,
    async begins(left) {
      const known = await findState(ctx, repository);
      const former = begun.state ?? known?.files ?? { base: null, placeKey: null };
      begun.state = { ...former, left };
      if (known) putState(ctx, repository, { ...known, files: begun.state });
    },
  });
  if (complete && !isSwept) yield { t: "listed", container: filesRef(repository) };
  begun.state = cursor;
}
