import { connect } from "#cli/api.ts";
import { argument, argumentList, textOption, wordOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { count, makeOutput } from "#cli/output.ts";
import { pageLimit } from "./syncs.ts";

/** `kb entities search QUERY` */
export async function searchEntities(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const answer = await api.get("/api/entities", {
    params: {
      query: {
        q: argumentList(input, 0).join(" "),
        type: wordOption(input, "type"),
        limit: pageLimit(input) ?? api.settings.defaults.limit,
        cursor: textOption(input, "cursor"),
      },
    },
  });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => {
    output.table(
      answer.entities,
      [
        { title: "entityId", value: (entity) => entity.entityId },
        { title: "type", value: (entity) => entity.type },
        { title: "name", value: (entity) => entity.name, isFlexible: true },
        { title: "items", value: (entity) => count(entity.itemCount) },
        { title: "last seen", value: (entity) => entity.lastSeenAt?.slice(0, 10) ?? "" },
        { title: "in", value: (entity) => entity.providers, isFlexible: true },
      ],
      "Nothing you can see has that name.",
    );
    if (answer.nextCursor !== null) output.talk(`More: --cursor ${answer.nextCursor}`);
  });
}

/** `kb entities show ENTITY` */
export async function showEntity(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const context = await api.get("/api/entities/{id}", { params: { path: { id: argument(input, 0) } } });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(context, () => {
    const { entity, counts } = context;
    output.record([
      ["entityId", entity.entityId],
      ["type", entity.type],
      ["name", entity.claimed ? `${entity.name} (as documents say)` : entity.name],
      ["aliases", entity.aliases],
      ["e-mail", entity.email],
      ["in", entity.providers],
      ["items", count(counts.items)],
      ["changed lately", count(counts.recent)],
      ["open tasks", count(counts.openTasks)],
    ]);
    const items = [
      ...context.openTasks.map((item) => ["open task", item] as const),
      ...context.newest.map((item) => ["newest", item] as const),
    ];
    output.table(
      items,
      [
        { title: "as", value: ([role]) => role },
        { title: "kbId", value: ([, item]) => item.kbId },
        { title: "title", value: ([, item]) => item.title, isFlexible: true },
        { title: "updated", value: ([, item]) => item.updatedAt?.slice(0, 10) ?? "" },
      ],
      "You can see no items about it.",
    );
    output.table(
      context.relations,
      [
        { title: "relation", value: (relation) => relation.role },
        { title: "to", value: (relation) => relation.name, isFlexible: true },
        { title: "type", value: (relation) => relation.type },
        { title: "id", value: (relation) => relation.entityId },
        { title: "items", value: (relation) => count(relation.itemCount) },
        { title: "shown by", value: (relation) => relation.kbId },
      ],
      "You can see no relations.",
    );
    for (const note of context.notes) output.talk(`Note: ${note}`);
  });
}
