import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { atMost } from "#core/cache-options.ts";
import { type EntityType, ID_ALPHABET, ID_PREFIXES } from "#api/common.ts";
import { cut } from "#api/clean.ts";
import { MOST_NAME_CHARS } from "#core/item-facts.ts";
import { nameKeyOf } from "#text/name-key.ts";
import type { ContainerRef, SourceItem, SourcePerson } from "#sources/item.ts";
import type { ItemEntity } from "#storage/item-batch.ts";
import { storable } from "./storable-text.ts";

export type PersonKey = Pick<SourcePerson, "name" | "principal" | "claimed">;

/**
 * Makes the entities that an item shows: its people, containers and labels. A proven principal is the same person
 * everywhere in the workspace. A claimed person (from git or documents) is the same only within one connector, is
 * matched by name alone, and is never merged with a proven person. Source: S47.
 */
export function makeItemEntities(
  workspaceId: string,
  connectorId: string,
  item: Pick<SourceItem, "author" | "assignees" | "people" | "containers" | "labels">,
): { entities: ItemEntity[]; idOf(person: PersonKey): string } {
  const found = new Map<string, ItemEntity>();
  const add = (role: ItemEntity["role"], type: EntityType, identity: string, names: Names) => {
    const entityId = makeEntityId(workspaceId, type, identity);
    found.set(`${entityId} ${role}`, { entityId, type, identity, role, ...toNames(names) });
  };
  const addPerson = (role: ItemEntity["role"], person: SourcePerson) =>
    add(role, "person", personIdentity(connectorId, person), person);

  if (item.author) addPerson("author", item.author);
  for (const person of item.assignees ?? []) addPerson("assignee", person);
  for (const person of item.people ?? []) addPerson("participant", person);
  for (const container of item.containers ?? []) {
    const isHome = container.isHome === true && { isHome: true as const };
    add("container", container.type, containerIdentity(connectorId, container), { ...container, ...isHome });
  }
  for (const label of item.labels ?? [])
    add("label", "label", `${connectorId}:${nameKeyOf(nameOf(label))}`, { name: label });
  return {
    entities: [...found.values()],
    idOf: (person) => makeEntityId(workspaceId, "person", personIdentity(connectorId, person)),
  };
}

/** Derives the id of an entity from its identity, so that every item that shows the entity gets the same id. */
export function makeEntityId(workspaceId: string, type: EntityType, identity: string): string {
  const key = JSON.stringify([workspaceId, type, identity]);
  let id = madeIds.get(key);
  if (id === undefined) {
    madeIds.set(key, (id = digestId(key)));
  }
  return id;
}

/** Files in a folder show the same containers: a file has three ids, and nearly all of them were made a moment ago. */
const madeIds = new LRUCache<string, string>(atMost(4_096));

function digestId(key: string): string {
  const digest = hash("sha256", key, "buffer");
  let text = "";
  for (const byte of digest.subarray(0, 16)) text += ID_ALPHABET[byte & 31];
  return `${ID_PREFIXES.entity}_${text}`;
}

interface Names {
  name: string;
  email?: string;
  login?: string;
  claimed?: boolean;
  isHome?: true;
}

function toNames({ name, email, login, claimed = false, isHome }: Names) {
  const [shownName, ...handles] = [name, login, email].map((text) => text && nameOf(text));
  const nameKey = [shownName, ...handles].flatMap((text) => (text === undefined ? [] : [nameKeyOf(text)])).join(" ");
  const [shownLogin = null, shownEmail = null] = handles;
  const shown = { name: shownName ?? "", nameKey, email: shownEmail, login: shownLogin, claimed };
  return isHome ? { ...shown, isHome } : shown;
}

function personIdentity(connectorId: string, person: PersonKey): string {
  if (person.principal !== undefined && !person.claimed) return person.principal;
  return `${connectorId}:claimed:${nameKeyOf(nameOf(person.name))}`;
}

/** Returns the entity id of a container. */
export function containerEntityId(workspaceId: string, connectorId: string, container: ContainerRef): string {
  return makeEntityId(workspaceId, container.type, containerIdentity(connectorId, container));
}

function containerIdentity(connectorId: string, container: ContainerRef): string {
  return `${connectorId}:${container.id}`;
}

function nameOf(text: string): string {
  return cut(storable(text.slice(0, 4 * MOST_NAME_CHARS)), MOST_NAME_CHARS);
}
