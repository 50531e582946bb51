/** Random things of which worlds are made. */
import type { SourceAccess } from "#core/principals.ts";
import { canaryFor, idFor, NOW, type ModelConnector, type ModelItem, type Persona, type Random } from "./model.ts";

export function connector(
  name: string,
  workspace: "one" | "two",
  providerId: ModelConnector["providerId"],
  visibility: ModelConnector["visibility"],
  owner: Persona,
  members: Persona[],
  isDeleting = false,
): ModelConnector {
  const canary = canaryFor(`connector ${name}`);
  const connectorId = idFor("connector", name);
  const shown = `${name} ${canary}`;
  return {
    connectorId,
    workspace,
    providerId,
    name: shown,
    canary,
    owner,
    visibility,
    members,
    isDeleting,
    isOrphan: false,
  };
}

export function makeItem(
  random: Random,
  name: string,
  where: ModelConnector,
  access: SourceAccess | null,
  words: readonly string[],
): ModelItem {
  const canary = canaryFor(name);
  const kind = random.pick(["task", "file", "page", "message"] as const);
  const sentence = (count: number) => random.some(words, count).join(" ");
  const text = Array.from(
    { length: 1 + random.int(5) },
    () => `${sentence(5 + random.int(20))}. ${canary} ${sentence(3)}.`,
  );
  return {
    kbId: idFor("item", name),
    connectorId: where.connectorId,
    workspace: where.workspace,
    kind,
    title: `${sentence(1 + random.int(4))} ${canary}`,
    text: `# ${sentence(2)} ${canary}\n\n${text.join("\n\n")}`,
    path: [`${random.pick(words)} ${canary}`],
    labels: [random.pick(words), canary],
    fields: {
      stage: random.pick(["draft", "final", random.pick(words)]),
      topics: [random.pick(words), canary],
      [random.pick(words)]: 1 + random.int(5),
      note: canary,
    },
    author: `${random.pick(["Ana Kowalska", "Bo Smith", "Cy Young"])} ${canary}`,
    url: random.chance(0.5) ? `https://docs.test/${random.pick(words)}/${canary}` : null,
    key: random.chance(0.4) ? keyOf(kind, canary, random.int(9)) : null,
    source: `${where.providerId}:${where.name}${random.chance(0.2) ? ` ${canary}` : ""}`,
    parent: null,
    access,
    updatedAt: NOW - random.int(90) * 86_400_000 - random.int(86_400_000),
    dueAt: kind === "task" && random.chance(0.7) ? NOW + (random.int(30) - 10) * 86_400_000 : null,
    isDone: random.chance(0.4),
    isRemoved: random.chance(0.08),
    isAdded: false,
    canary,
  };
}

/** A task's own number, or the name of a file, which others have too. */
function keyOf(kind: ModelItem["kind"], canary: string, n: number): string {
  if (kind === "task") return `${canary.toUpperCase().slice(0, 6)}-${1 + n}`;
  return ["README.md", "notes.md", "plan.md"][n % 3] ?? "";
}

/** A hidden item that looks like one that is seen: same words, same address, same key, newer. */
export function twinOf(random: Random, seen: ModelItem, hidden: ModelItem): ModelItem {
  const own = (text: string) => (random.chance(0.5) ? text.replaceAll(seen.canary, hidden.canary) : text);
  return {
    ...hidden,
    title: own(seen.title),
    text: own(seen.text),
    url: seen.url,
    key: seen.key,
    author: seen.author,
    labels: seen.labels,
    fields: random.chance(0.5) ? { ...seen.fields, note: hidden.canary } : hidden.fields,
    path: seen.path,
    kind: seen.kind,
    updatedAt: NOW - random.int(1_000),
  };
}
