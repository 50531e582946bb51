import { LRUCache } from "lru-cache";
import { atMost } from "#core/cache-options.ts";
import type { Principal } from "#core/principals.ts";
import { type DriveClient, fromDirectory } from "./client.ts";
import { ORGANIZATION, type Readers } from "./readers.ts";

const KEPT_MS = 12 * 3_600_000;

/**
 * Makes a cache of the ids that permissions use for members of the directory. An id is requested by email address and
 * kept for half a day, as long as the address belongs to the same member. The next owner of an address is another
 * person.
 */
export function makeAddressBook() {
  const kept = new LRUCache<string, { id: string; at: number }>(atMost(200_000));
  return {
    async idOf(
      client: DriveClient,
      { id: directoryId, email }: { id: string | undefined; email: string },
      now: number,
    ): Promise<string | undefined> {
      const key = directoryId === undefined ? undefined : `${directoryId} ${email.toLowerCase()}`;
      const known = key === undefined ? undefined : kept.get(key);
      if (known && now - known.at < KEPT_MS && known.at <= now) return known.id;
      const id = await client.permissionIdOf(email);
      if (id !== undefined && key !== undefined) kept.set(key, { id, at: now });
      return id;
    },
  };
}
export type AddressBook = ReturnType<typeof makeAddressBook>;

export interface Directory {
  client: DriveClient;
  readers: Readers;
  book: AddressBook;
  now(): number;
}

/**
 * Returns all members of a Google group, including those of nested groups; undefined if the account can't see them.
 * Checks that the address still belongs to this group, since it may have been given to another one.
 */
export async function membersOf(
  { client, readers, book, now }: Directory,
  permissionId: string,
  email: string,
): Promise<Principal[] | undefined> {
  return fromDirectory(async () => {
    const found = new Set<Principal>();
    for await (const { members } of client.members(email)) {
      for (const { id: directoryId, type, email: address, status } of members) {
        if (type === "CUSTOMER") found.add(readers.group(ORGANIZATION));
        if (type !== "USER" || address === undefined || (status !== undefined && status !== "ACTIVE")) continue;
        const id = await book.idOf(client, { id: directoryId, email: address }, now());
        if (id !== undefined) for (const principal of readers.user(id)) found.add(principal);
      }
    }
    return (await client.permissionIdOf(email)) === permissionId ? [...found] : [];
  });
}
