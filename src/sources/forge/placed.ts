/** Converts events of git's session about paths into events about files of a forge's repository. */
import type { SourceContainer, SourceItem } from "#sources/item.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { PageEntry } from "#sources/session.ts";
import type { ForgeRepository } from "./contract.ts";
import { fileId, filesRef, folderId } from "./ids.ts";
import { accessOf, type ForgeFacts, homeOf } from "./map.ts";

export async function* placedAll(
  outcomes: AsyncIterable<Outcome>,
  repository: ForgeRepository,
  facts: ForgeFacts,
): AsyncGenerator<Outcome, void> {
  for await (const outcome of outcomes) yield placed(outcome, repository, facts);
}

/** Returns the entry of a file. An existing file in git's session has only its path and its version. */
export function placedEntry(entry: PageEntry, repository: ForgeRepository, facts: ForgeFacts): PageEntry {
  return "t" in entry
    ? placed(entry, repository, facts)
    : { ...entry, externalId: fileId(repository, entry.externalId) };
}

/** Converts an event about a path into one about a file of this repository. */
export function placed(event: Outcome, repository: ForgeRepository, facts: ForgeFacts): Outcome {
  const at = (path: string) => fileId(repository, path);
  switch (event.t) {
    case "upsert":
      return { t: "upsert", item: toFileItem(event.item, repository, facts) };
    case "seen":
      return { t: "seen", externalIds: event.externalIds.map(at) };
    case "delete":
      return { t: "delete", externalId: at(event.externalId) };
    case "delete_container":
      return { t: "delete_container", type: event.type, id: folderId(repository, event.id) };
    case "skip":
      return { ...event, externalId: at(event.externalId) };
    default:
      throw new Error(`A repository says nothing of ${event.t}.`);
  }
}

function toFileItem(item: SourceItem, repository: ForgeRepository, facts: ForgeFacts): SourceItem {
  const { formerId, containers = [] } = item;
  const root = filesRef(repository);
  const folders = containers
    .filter(({ type }) => type === "folder")
    .map((folder): SourceContainer => ({
      ...folder,
      id: folderId(repository, folder.id),
      parentId: folder.parentId === undefined ? root.id : folderId(repository, folder.parentId),
    }));
  const files: SourceContainer = {
    ...root,
    type: "folder",
    name: repository.fullName,
    parentId: `r${repository.id}`,
    isHome: true,
  };
  return {
    ...item,
    externalId: fileId(repository, item.externalId),
    ...(formerId !== undefined && { formerId: fileId(repository, formerId) }),
    place: repository.fullName,
    containers: [...homeOf(repository), files, ...folders],
    access: accessOf(repository, "files", facts),
  };
}
