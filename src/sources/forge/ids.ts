import type { ContainerRef } from "#sources/item.ts";
import type { ForgeContent, ForgeRepository } from "./contract.ts";

/** The parsed external id. A repository's id never changes, even if its name does. */
export type ForgeId = { repository: string } & (
  | { type: "thread"; number: number }
  | { type: "part"; number: number; part: string }
  | { type: "file"; path: string }
);

export function threadId({ id }: Pick<ForgeRepository, "id">, number: number): string {
  return `r${id}#${number}`;
}

export function partId(repository: Pick<ForgeRepository, "id">, number: number, part: string): string {
  return `${threadId(repository, number)}.${part}`;
}

/** Parses an external id. Undefined for an id that this source didn't create. */
export function parseId(externalId: string): ForgeId | undefined {
  const parts = /^r(\d{1,16})#(\d{1,10})(?:\.([crv]\d{1,19}))?$/.exec(externalId);
  if (parts) {
    const [, repository = "", digits = "", part] = parts;
    const number = Number(digits);
    return part === undefined ? { repository, type: "thread", number } : { repository, type: "part", number, part };
  }
  const [, repository, path] = /^r(\d{1,16}):(.+)$/s.exec(externalId) ?? [];
  return repository === undefined || path === undefined ? undefined : { repository, type: "file", path };
}

/** Returns a repository as a container, which is also the place to select in browsing, and the entry in a scope. */
export function repositoryRef({ id }: Pick<ForgeRepository, "id">): ContainerRef {
  return { type: "repository", id: `r${id}` };
}

/** Returns the organization or person that owns a repository. */
export function ownerRef({ owner }: Pick<ForgeRepository, "owner">): ContainerRef {
  return { type: "space", id: `o${owner.id}` };
}

/**
 * Returns the id of a group of readers at the source. People who read the issues of a repository can't necessarily read
 * its files.
 */
export function readersGroup(repositoryId: string, content: ForgeContent): string {
  return `r${repositoryId}.${content}`;
}

export function fileId({ id }: Pick<ForgeRepository, "id">, path: string): string {
  return `r${id}:${path}`;
}

export function folderId({ id }: Pick<ForgeRepository, "id">, path: string): string {
  return `r${id}:${path}/`;
}

/**
 * Returns the container of all files of a repository. It is separate because an account that can read the issues may
 * not see the files.
 */
export function filesRef(repository: Pick<ForgeRepository, "id">): ContainerRef {
  return { type: "folder", id: fileId(repository, "") };
}
