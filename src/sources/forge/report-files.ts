import { isApiError } from "#api/errors.ts";
import type { ContainerEvent } from "#sources/containers.ts";
import { refusalOf } from "#sources/failures.ts";
import { makeWaits } from "#sources/waits.ts";
import type { ForgeRepository } from "./contract.ts";
import type { FilesState } from "./files.ts";
import { filesRef, repositoryRef } from "./ids.ts";
import { findState, type ForgeTools, putState } from "./tools.ts";

type Report<At> = AsyncGenerator<ContainerEvent<At>, FilesState | undefined>;

/**
 * Files that are new since this state, or all without one; returns undefined when there are none, or none are visible.
 * A failure is reported for the files alone: the threads of the repository were reported before.
 */
export async function* reportFiles<At>(
  tools: ForgeTools,
  repository: ForgeRepository,
  { state, at }: { state?: FilesState | undefined; at?: At },
): Report<At> {
  if (!repository.content.has("files") || repository.branch === undefined) return undefined;
  const container = filesRef(repository);
  const waits = makeWaits(tools.ctx);
  const isNew = (state?.base ?? null) === null;
  // All of them would be fetched again and again.
  if (isNew && !at && (await waits.isWaiting(container.id))) {
    yield failed(repository, "could not be read several times. They are tried again later.");
    return state;
  }
  const begun = { state };
  try {
    const now = yield* walk(tools, repository, { begun, at });
    await waits.done(container.id);
    return now;
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) {
      await tools.failures.requireOfOne(error);
      if (isNew) await waits.failed(container.id);
      yield failed(repository, `can't be read now${isApiError(error) ? `: ${error.message}` : "."}`);
      return begun.state;
    }
    // Its issues may still be open to this account.
    yield { t: "refused", what: { container }, code };
    return undefined;
  }
}

function failed(repository: ForgeRepository, why: string): ContainerEvent<never> {
  const message = `The files of ${repository.fullName} ${why}`;
  return { t: "failed", what: { container: filesRef(repository) }, message, as: repositoryRef(repository).id };
}

/** `begun.state` has the state of what was begun, however it ends. */
async function* walk<At>(
  { ctx, files, facts, forge, hand }: ForgeTools,
  repository: ForgeRepository,
  { begun, at }: { begun: { state: FilesState | undefined }; at: At | undefined },
): Report<At> {
  const { state } = begun;
  const head = await forge.head(repository);
  if (head === undefined) return undefined;
  if (state && head === state.base && !state.left) return state;
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
  // The end of a full run does this itself.
  if (complete && !at) yield { t: "listed", container: filesRef(repository) };
  return cursor;
}
