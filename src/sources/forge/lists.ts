/** The lists of a repository. Each list is read separately, so a list that always fails doesn't block the others. */
import type { ContainerEvent } from "#sources/containers.ts";
import { failedSkip, type ListReading } from "#sources/failures.ts";
import { makeWaits } from "#sources/waits.ts";
import type { CommentList, ForgeRepository } from "./contract.ts";
import { confirmName } from "./files.ts";
import { filesRef, repositoryRef } from "./ids.ts";
import type { ForgeTools } from "./tools.ts";

/** The lists: issues and pull requests, their comments, their number, and the files. */
export type ListName = "threads" | CommentList | "count" | "files";

const SHOWN: Readonly<Record<ListName, string>> = {
  threads: "The issues and pull requests",
  comments: "The comments",
  reviewComments: "The comments on code",
  count: "The number of issues and pull requests",
  files: "The files",
};

interface ListRun {
  /** True = nothing in the list was read before, so after a failure the whole list is requested again and again. */
  isNew: boolean;
  /** True = after several failures such a list isn't read for a while. A full run doesn't wait. */
  mayWait: boolean;
}

/** Reads one list of a repository. Returns whether it was read. @throws errors that concern more than this list */
export async function* readList<At>(
  tools: ForgeTools,
  repository: ForgeRepository,
  { name, isNew, mayWait }: ListRun & { name: ListName },
  list: ListReading<ContainerEvent<At>>,
): AsyncGenerator<ContainerEvent<At>, boolean> {
  const { ctx, failures, forge, repositories } = tools;
  const waits = makeWaits(ctx);
  const key = name === "files" ? filesRef(repository).id : `${repository.id} ${name}`;
  const report = (why: string): ContainerEvent<At> => {
    const message = `${SHOWN[name]} of ${repository.fullName} ${why}`;
    const { id: as } = repositoryRef(repository);
    if (name === "count") return failedSkip(as, message);
    return name === "files"
      ? { t: "failed", what: { container: filesRef(repository) }, message, as }
      : repositories.inPart(repository, message);
  };
  if (isNew && mayWait && (await waits.isWaiting(key))) {
    yield report("could not be read several times. They are tried again later.");
    return false;
  }
  const error = yield* failures.alone(list);
  if (error === undefined) {
    if (isNew) await waits.done(key);
    return true;
  }
  // The repository itself answers under its own name, so the remaining lists still belong to it.
  if (name !== "files") confirmName(repository, await forge.repository(repository.id));
  if (isNew) await waits.failed(key);
  yield report(`can't be read now: ${error.message}`);
  return false;
}
