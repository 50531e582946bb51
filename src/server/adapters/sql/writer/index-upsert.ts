import type { IndexChange } from "#server/ports/search-index.ts";
import type { PreparedItem } from "#server/ports/store/item-writes.ts";

/** What the index is told of an item that was added or changed. */
export function toIndexUpsert(item: PreparedItem, kbId: string, connectorId: string, aclId: number): IndexChange {
  const idsOf = (...roles: string[]) => [
    ...new Set(item.entities.filter((e) => roles.includes(e.role)).map((e) => e.entityId)),
  ];
  const { kind, status, providerId, source, updatedAt, createdAt, dueAt, text } = item;
  return {
    type: "upsert",
    document: {
      kbId,
      kind,
      status,
      providerId,
      source,
      connectorId,
      aclId,
      updatedAt,
      createdAt,
      dueAt,
      text: text.analyzed,
      people: idsOf("author", "assignee", "participant"),
      assignees: idsOf("assignee"),
      containers: idsOf("container", "label"),
    },
  };
}
