import { none } from "#sources/contents.ts";
import { defined } from "#core/defined.ts";
import { isInstant } from "#core/instant.ts";
import type { SourceContainer, SourceItem, SourcePerson } from "#sources/item.ts";
import { hasNoText, mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import type { FileAttributes } from "./attributes.ts";
import type { WebPages } from "./forges.ts";
import type { CommitFacts, CommitMessage } from "./history.ts";
import { COMMIT_PREFIX } from "./judge.ts";
import { foldersOf, readableName } from "#sources/file-scope/folders.ts";
import { readableSegment, segmentsOf } from "#sources/file-scope/paths.ts";

/** Values shared by all items of a run. */
export interface RepositoryFacts {
  /** `owner/repo`, or the name of the folder. */
  place: string;
  pages: WebPages | undefined;
  /** A part of every version, which changes if all URLs change. */
  placeKey: string;
  maxFileBytes: number;
  readsArchives: boolean;
}

export interface FileFacts {
  path: string;
  oid: string;
  mode: string;
  /** Undefined if the mirror left the file out because it is too large. */
  size: number | undefined;
  attributes: FileAttributes;
  /** The size of the file that a Git LFS pointer refers to. */
  lfsSize: number | undefined;
  lastCommit: CommitFacts | undefined;
  formerPath: string | undefined;
}

/**
 * Returns a version that changes when the item of a file may have changed: its content, its mode, its attributes, or
 * the URL of its page.
 */
export function versionOf(
  { oid, mode, attributes }: Pick<FileFacts, "oid" | "mode" | "attributes">,
  placeKey: string,
): string {
  const judged = `${attributes.isBinary ? "b" : ""}${attributes.isLfs ? "l" : ""}`;
  return [oid, mode === "100755" ? "x" : "", judged, placeKey].join(":");
}

function addressOf(pages: WebPages, path: string): Pick<SourceItem, "url" | "lineAnchor"> {
  const lineAnchor = pages.lineAnchor(path);
  return { url: pages.file(path), ...defined({ lineAnchor }) };
}

/**
 * Builds the item of a file. Its people are claims, since anyone can write any name into a commit. Its access is
 * `workspace`: the host's own permissions aren't mirrored, so the connector's access decides. Source: S5, S47.
 */
export function toFileItem(file: FileFacts, repository: RepositoryFacts): SourceItem {
  const { path, lastCommit, formerPath } = file;
  const segments = segmentsOf(path);
  const name = readableSegment(segments.pop() ?? path);
  const mimeType = mimeHintOf(name);
  const isLfs = file.lfsSize !== undefined;
  const size = file.lfsSize ?? file.size;
  return {
    externalId: path,
    kind: "file",
    title: readableName(name),
    hasFileTitle: true,
    ...(repository.pages && addressOf(repository.pages, path)),
    place: repository.place,
    path: segments.map(readableName),
    version: versionOf(file, repository.placeKey),
    ...defined({ formerId: formerPath, mimeType, size }),
    ...(lastCommit && { updatedAt: dateOf(lastCommit.at), author: personOf(lastCommit) }),
    containers: [repositoryOf(repository), ...foldersOf(segments, readableName)],
    fields: {
      ...(lastCommit && { commit: lastCommit.sha.slice(0, 12) }),
      ...(isLfs && { storedIn: "Git LFS" }),
    },
    content: contentOf(file, mimeType, repository),
    access: { known: true, all: [["workspace"]] },
  };
}

/** Builds the item of a commit's message. */
export function toCommitItem(commit: CommitMessage, repository: RepositoryFacts): SourceItem {
  const { sha, message } = commit;
  const subject = message.split("\n", 1)[0]?.trim() ?? "";
  const title = subject === "" ? `Commit ${sha.slice(0, 12)}` : subject.slice(0, 300);
  return {
    externalId: `${COMMIT_PREFIX}${sha}`,
    kind: "message",
    subkind: "commit",
    title,
    ...(repository.pages && { url: repository.pages.commit(sha) }),
    place: repository.place,
    version: `${sha}:${repository.placeKey}`,
    createdAt: dateOf(commit.writtenAt),
    updatedAt: dateOf(commit.at),
    author: personOf(commit),
    containers: [repositoryOf(repository)],
    fields: { commit: sha.slice(0, 12) },
    content: message.trim() === "" ? none("empty") : { type: "inline", text: message },
    access: { known: true, all: [["workspace"]] },
  };
}

function contentOf(
  file: FileFacts,
  mimeType: string | undefined,
  { maxFileBytes, readsArchives }: Pick<RepositoryFacts, "maxFileBytes" | "readsArchives">,
): SourceItem["content"] {
  if (file.size === 0) return none("empty");
  const isWithoutText =
    file.lfsSize !== undefined || isDeclaredBinary(file, mimeType) || hasNoText(mimeType, readsArchives);
  if (isWithoutText) return none("unsupported_type");
  return file.size === undefined || file.size > maxFileBytes ? none("too_large") : { type: "fetch", ref: file.oid };
}

/**
 * Whether the attributes declare the file binary. `binary` makes git skip line comparison. A file that looks like text
 * is then not treated as text. A PDF or a presentation is still a document, and is commonly declared binary.
 */
function isDeclaredBinary({ attributes }: FileFacts, mimeType: string | undefined): boolean {
  const isDocument = mimeType !== undefined && !/^text\/|json|xml$|yaml|toml|javascript/.test(mimeType);
  return attributes.isBinary && !isDocument;
}

function personOf({ name, email }: CommitFacts): SourcePerson {
  const shown = name.trim() || email.trim() || "Unknown";
  return {
    name: shown.slice(0, 200),
    ...(/^[^\s@]+@[^\s@]+$/.test(email) && { email: email.slice(0, 300) }),
    claimed: true,
  };
}

function repositoryOf({ place }: RepositoryFacts): SourceContainer {
  return { type: "repository", id: place, name: place, isHome: true };
}

/** Returns a time in milliseconds. An impossible date counts as no date, which is the epoch. */
function dateOf(seconds: number): number {
  const instant = seconds * 1_000;
  return isInstant(instant) ? instant : 0;
}
