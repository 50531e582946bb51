import { count } from "#api/plural.ts";
import { ENTITY_TYPES } from "#api/tools.ts";
import { connect } from "#cli/api.ts";
import { command, fieldsOf, type Noun } from "#cli/command.ts";
import { PAGE_OPTIONS } from "#cli/options.ts";
import { makeOutput } from "#cli/output.ts";
import { parseInteger } from "#cli/values.ts";

const searchEntities = command(
  {
    summary: "Find people, folders, labels and other things by name.",
    arguments: [{ name: "query", summary: "a name, an email, a login", variadic: true }],
    options: [{ flags: "--type <type>", summary: "only these", choices: ENTITY_TYPES }, ...PAGE_OPTIONS],
    examples: ["kb entities search anna --type person"],
    exitCodes: [4, 7],
    fields: [fieldsOf("get", "/api/entities", "entities")],
    isRemote: true,
  },
  async (input, deps) => {
    const api = await connect(input, deps);
    const answer = await api.get("/api/entities", {
      params: {
        query: {
          q: input.args.query.join(" "),
          type: input.options.type,
          limit: parseInteger(input.options.limit, "--limit", 1, 200) ?? api.settings.defaults.limit,
          cursor: input.options.cursor,
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
  },
);

const showEntity = command(
  {
    summary: "Show what the items that you can see say about an entity.",
    arguments: [{ name: "entity", summary: "ent_…", required: true }],
    examples: ["kb entities show ent_2345abcd2345abcd"],
    exitCodes: [3, 4, 7],
    fields: [fieldsOf("get", "/api/entities/{id}")],
    isRemote: true,
  },
  async (input, deps) => {
    const api = await connect(input, deps);
    const context = await api.get("/api/entities/{id}", { params: { path: { id: input.args.entity } } });
    const output = makeOutput(input, deps, api.settings.defaults);
    output.result(context, () => {
      const { entity, counts } = context;
      output.record([
        ["entityId", entity.entityId],
        ["type", entity.type],
        ["name", entity.claimed ? `${entity.name} (as documents say)` : entity.name],
        ["aliases", entity.aliases],
        ["email", entity.email],
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
  },
);

export const entities: Noun = {
  summary: "People, folders, labels and other things that items name.",
  verbs: {
    search: searchEntities,
    show: showEntity,
  },
};
