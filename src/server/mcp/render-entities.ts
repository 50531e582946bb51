import { defined } from "#core/defined.ts";
import { cleanField, MAX_CHARS } from "#api/clean.ts";
import { formatDay, formatNow } from "#api/days.ts";
import type {
  ToolContextItem,
  ToolContextRelation,
  ToolContextResult,
  ToolEntitiesResult,
  ToolEntity,
} from "#api/tools.ts";
import type { EntityAnswer, EntityPage, EntityRecord, EntityRelationRecord } from "#server/entities/types.ts";
import type { ItemRecord } from "#storage/item-record.ts";
import { titleOf, urlOf } from "./entry.ts";
import { withDistance, type Printing } from "./facts.ts";
import { bothForms, firstThatFits, mostThatFits, type Rendered } from "./fitting.ts";
import type { CountTokens } from "./tokens.ts";

export interface EntityRendering extends Printing {
  maxTokens: number;
  count: CountTokens;
}

/**
 * Renders the answer of `kb_search_entities`: one line for each entity. If the answer is too long, entities are dropped
 * from the end.
 */
export async function renderEntities(
  page: EntityPage,
  notes: readonly string[],
  options: EntityRendering,
): Promise<Rendered<ToolEntitiesResult>> {
  const now = formatNow(options.now, options.timeZone);
  const part = (shown: number): Rendered<ToolEntitiesResult> => {
    const isAll = shown === page.entities.length;
    const structured: ToolEntitiesResult = {
      now,
      total: page.total,
      entities: page.entities.slice(0, shown).map((entity) => projectEntity(entity, options)),
      ...(notes.length > 0 && { notes: [...notes] }),
      ...(isAll && page.nextCursor !== null && { next: { cursor: page.nextCursor } }),
    };
    return { structured, text: entitiesText(structured) };
  };
  return (await mostThatFits(page.entities.length, part, bothForms, options)) ?? part(0);
}

/** Renders the answer of `kb_get_entity_context`. Every line ends with a kbId or an entityId. Source: B21. */
export async function renderContext(
  answer: EntityAnswer,
  options: EntityRendering,
): Promise<Rendered<ToolContextResult>> {
  const now = formatNow(options.now, options.timeZone);
  function* candidates(): Generator<Rendered<ToolContextResult>> {
    for (const keep of [20, 10, 5, 3, 1, 0]) {
      const structured = answer.type === "overview" ? overview(answer, keep, options) : several(answer, keep, options);
      const whole: ToolContextResult = { now, ...structured };
      yield { structured: whole, text: contextText(whole, options) };
    }
    yield { structured: { now }, text: `Now: ${now}.\n\nEnd of overview. Too large for maxTokens; raise it.` };
  }
  return firstThatFits(candidates(), options);
}

function overview(
  { overview: it }: Extract<EntityAnswer, { type: "overview" }>,
  keep: number,
  options: EntityRendering,
): Omit<ToolContextResult, "now"> {
  return {
    entity: projectEntity(it.entity, options),
    counts: { ...it.counts, byKind: { ...it.counts.byKind } },
    openTasks: it.openTasks.slice(0, keep).map((item) => projectItem(item, options)),
    newest: it.newest.slice(0, keep).map((item) => projectItem(item, options)),
    relations: it.relations.slice(0, keep).map(projectRelation),
    ...(it.notes.length > 0 && keep > 0 && { notes: [...it.notes] }),
  };
}

function several(
  { candidates, notes }: Extract<EntityAnswer, { type: "candidates" }>,
  keep: number,
  options: EntityRendering,
): Omit<ToolContextResult, "now"> {
  return {
    candidates: candidates.slice(0, keep).map((entity) => projectEntity(entity, options)),
    ...(notes.length > 0 && { notes: [...notes] }),
  };
}

function projectEntity(entity: EntityRecord, options: Printing): ToolEntity {
  const { timeZone } = options;
  const email = value(entity.email);
  const login = value(entity.login);
  const aliases = entity.aliases
    .map((alias) => cleanField(alias, MAX_CHARS.person).replaceAll(";", ","))
    .filter(Boolean);
  const sources = entity.sources
    .map((source) => cleanField(source, MAX_CHARS.source).replaceAll(";", ","))
    .filter(Boolean);
  return {
    entityId: entity.entityId,
    type: entity.type,
    name: nameOf(entity.name),
    ...defined({ email, login }),
    ...(entity.claimed && { claimed: true }),
    ...(aliases.length > 0 && { aliases: aliases.slice(0, 5) }),
    ...(sources.length > 0 && { sources: sources.slice(0, 5) }),
    items: entity.itemCount,
    ...(entity.lastSeenAt !== null && { lastActive: formatDay(entity.lastSeenAt, timeZone) }),
  };
}

function projectItem(item: ItemRecord, options: Printing): ToolContextItem {
  const { timeZone } = options;
  return {
    kbId: item.kbId,
    title: titleOf(item).replaceAll("|", "¦"),
    kind: item.kind,
    ...(item.status !== null && { status: item.status }),
    ...(item.dueAt !== null && { due: formatDay(item.dueAt, timeZone) }),
    ...(item.updatedAt === null
      ? { indexed: formatDay(item.indexedAt, timeZone) }
      : { updated: formatDay(item.updatedAt, timeZone) }),
    url: urlOf(item, options),
  };
}

function projectRelation(relation: EntityRelationRecord): ToolContextRelation {
  return {
    role: cleanField(relation.role, MAX_CHARS.label),
    entityId: relation.entityId,
    type: relation.type,
    name: nameOf(relation.name),
    ...(relation.claimed && { claimed: true }),
    items: relation.itemCount,
    kbId: relation.kbId,
  };
}

function nameOf(name: string): string {
  return cleanField(name, MAX_CHARS.person) || "(unnamed)";
}

function value(text: string | null): string | undefined {
  const cleaned = cleanField(text ?? "", MAX_CHARS.value);
  return cleaned === "" ? undefined : cleaned;
}

function entitiesText(answer: ToolEntitiesResult): string {
  const shown = answer.entities.length;
  const cursor = answer.next?.cursor;
  const more =
    cursor !== undefined
      ? `There are more: repeat the call with cursor="${cursor}".`
      : shown < answer.total
        ? "Cut by size; ask for less with limit."
        : "All shown.";
  return [
    `${answer.total} found, ${shown} shown. Now: ${answer.now}.`,
    ...(shown > 0 ? [answer.entities.map((entity, index) => entityLine(entity, index + 1)).join("\n")] : []),
    [...noteLines(answer.notes), `End of results. ${more}`].join("\n"),
  ].join("\n\n");
}

function entityLine(entity: ToolEntity, n: number): string {
  return [`[${n}] ${entity.name}`, ...entityFacts(entity), `entityId: ${entity.entityId}`].join(" | ");
}

function entityFacts(entity: ToolEntity): string[] {
  return [
    entity.claimed === true ? `${entity.type}, claimed` : entity.type,
    ...part("email: ", entity.email),
    ...part("login: ", entity.login),
    ...part("also: ", entity.aliases?.join("; ")),
    ...part("in: ", entity.sources?.join("; ")),
    `items: ${entity.items}`,
    ...part("last active: ", entity.lastActive),
  ];
}

function contextText(answer: ToolContextResult, time: Printing): string {
  const { entity, counts } = answer;
  if (entity === undefined || counts === undefined) return candidatesText(answer);
  const kinds = Object.entries(counts.byKind).map(([kind, count]) => `${kind} ${count}`);
  return [
    [
      `Entity: ${entity.name} | ${entityFacts(entity).join(" | ")} | entityId: ${entity.entityId}`,
      `Now: ${answer.now}. Items: ${counts.items} (${kinds.join(", ")}); changed in the last 90 days: ${counts.recent}; open tasks: ${counts.openTasks}.`,
    ].join("\n"),
    ...block(
      "Open tasks:",
      (answer.openTasks ?? []).map((item) => itemLine(item, time)),
    ),
    ...block(
      "Newest:",
      (answer.newest ?? []).map((item) => itemLine(item, time)),
    ),
    ...block("Relations:", (answer.relations ?? []).map(relationLine)),
    [
      ...noteLines(answer.notes),
      `End of overview. For the rest call kb_search with ${argumentFor(entity)}="${entity.entityId}".`,
    ].join("\n"),
  ].join("\n\n");
}

function candidatesText(answer: ToolContextResult): string {
  const candidates = answer.candidates ?? [];
  return [
    `${candidates.length} could be meant. Now: ${answer.now}.`,
    ...(candidates.length > 0 ? [candidates.map((entity, index) => entityLine(entity, index + 1)).join("\n")] : []),
    [...noteLines(answer.notes), "End of candidates. Call again with one of these entityIds."].join("\n"),
  ].join("\n\n");
}

/** The argument that filters by the entity: `people` for a person, `source` for everything else. */
function argumentFor(entity: ToolEntity): string {
  return entity.type === "person" ? "people" : "source";
}

function itemLine(item: ToolContextItem, time: Printing): string {
  return [
    `- ${item.title}`,
    item.status === undefined ? item.kind : `${item.kind}, ${item.status}`,
    ...part("due: ", item.due),
    ...part("updated: ", item.updated && withDistance(item.updated, time)),
    ...part("indexed: ", item.indexed && withDistance(item.indexed, time)),
    ...part("URL: ", item.url),
    `kbId: ${item.kbId}`,
  ].join(" | ");
}

function relationLine(relation: ToolContextRelation): string {
  const type = relation.claimed === true ? `${relation.type}, claimed` : relation.type;
  return `- ${relation.role}: ${relation.name} | ${type} | items: ${relation.items} | entityId: ${relation.entityId} | proof kbId: ${relation.kbId}`;
}

function noteLines(notes: readonly string[] | undefined): string[] {
  return (notes ?? []).map((note) => `Note: ${note}`);
}

function block(head: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [[head, ...lines].join("\n")];
}

function part(name: string, text: string | undefined): string[] {
  return text === undefined || text === "" ? [] : [`${name}${text}`];
}
