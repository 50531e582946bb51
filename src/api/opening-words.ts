import type { Opened, Opening } from "./openings.ts";

/**
 * Describes a change that gave more people access, as a sentence without its time. `ownId` is the connector or group that the sentence is shown for.
 */
export function describeOpening(opening: Opening, ownId: string): string {
  const { by, times } = opening;
  const who = by === null ? "A key of this connector" : (by.name ?? by.id);
  return `${who} ${actOf(opening, ownId)}${times > 1 ? ` (${times} times that day)` : ""}`;
}

function actOf({ action, target, items, added, after }: Opening, ownId: string): string {
  const names = namesOf(added);
  switch (action) {
    case "connector.access_pushed":
      return `opened ${items ?? 0} ${items === 1 ? "item" : "items"} to more people${names === "" ? "" : `: ${names}`}`;
    case "connector.people_pushed":
      return `put ${names || "people"} into groups of the source`;
    case "group.changed":
      return `put ${names || "people"} into ${target.id === ownId ? "this group" : `the group ${target.name ?? target.id}`}`;
    default:
      return `opened it to ${names || (after && namesOf(after)) || "more people"}`;
  }
}

function namesOf({ named, others }: Opened): string {
  const names = named.map(({ id, name }) => name ?? (WORDS[id] || id));
  return [...names, ...(others > 0 ? [`${others} of the source`] : [])].join(", ");
}

const WORDS: Readonly<Record<string, string>> = { workspace: "everyone in the workspace", everyone: "everyone" };
