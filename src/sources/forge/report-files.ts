import type { ContainerEvent } from "#sources/containers.ts";
import { refusalOf, refusedContainer } from "#sources/failures.ts";
import type { ForgeRepository } from "./contract.ts";
import type { FilesState } from "./files.ts";
import { filesRef } from "./ids.ts";
import { readList } from "./lists.ts";
import { findState, type ForgeTools, putState } from "./tools.ts";

/** The position of a walk; it changes while files are yielded, however the walk ends. */
interface Begun {
  state: FilesState | undefined;
}

interface FilesRun<At> {
  state?: FilesState | undefined;
  at?: At;
  /** The end of the run removes files that aren't named. */
  isSwept?: boolean;
}

/**
 * Files that are new since this state, or all without one; returns undefined when there are none, or none are visible.
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
    // Its issues may still be open to this account.
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
