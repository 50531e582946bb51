import type { StoredItems } from "./context.ts";
import type { ContainerRef } from "./item.ts";

/** Collects all records of a paged listing. */
export async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const found: T[] = [];
  for await (const page of pages) found.push(...page);
  return found;
}

/** Returns the ids of the stored items in a container, optionally only the wanted ones. */
export async function storedIds(
  { stored }: { stored: Pick<StoredItems, "list"> },
  container: ContainerRef,
  isWanted: (externalId: string) => boolean = () => true,
): Promise<string[]> {
  const ids: string[] = [];
  for await (const { externalId } of stored.list(container)) if (isWanted(externalId)) ids.push(externalId);
  return ids;
}
