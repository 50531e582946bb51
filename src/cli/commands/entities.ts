import { count } from "#api/plural.ts";
import { ENTITY_TYPES } from "#api/tools.ts";
import { fieldsOf, type Noun } from "#cli/command.ts";
import { PAGE_OPTIONS } from "#cli/options.ts";
import { parseInteger } from "#cli/values.ts";
import { remoteCommand } from "#cli/remote-command.ts";
import { flexible } from "#cli/table.ts";

const searchEntities = remoteCommand(
  {
    summary: "Find people, folders, labels and other things by name.",
    arguments: [{ name: "query", summary: "a name, an email, a login", variadic: true }],
    options: [{ flags: "--type <type>", summary: "only these", choices: ENTITY_TYPES }, ...PAGE_OPTIONS],
    examples: ["kb entities search anna --type person"],
    fields: [fieldsOf("get", "/api/entities", "entities")],
  },
  async ({ api, output, args, options }) => {
    const answer = await api.get("/api/entities", {
      params: {
        query: {
          q: args.query.join(" "),
          type: options.type,
          limit: parseInteger(options.limit, "--limit", 1, 200) ?? api.settings.defaults.limit,
          cursor: options.cursor,
        },
      },
    });
    output.result(answer, () => {
      output.table(
        answer.entities,
        {
          entityId: (entity) => entity.entityId,
          type: (entity) => entity.type,
          name: flexible((entity) => entity.name),
          items: (entity) => count(entity.itemCount),
          "last seen": (entity) => entity.lastSeenAt?.slice(0, 10) ?? "",
          in: flexible((entity) => entity.providers),
        },
        "Nothing you can see has that name.",
      );
      if (answer.nextCursor !== null) output.talk(`More: --cursor ${answer.nextCursor}`);
    });
  },
);

const showEntity = remoteCommand(
  {
    summary: "Show what the items that you can see say about an entity.",
    arguments: [{ name: "entity", summary: "ent_…", required: true }],
    examples: ["kb entities show ent_2345abcd2345abcd"],
    exitCodes: [3],
    fields: [fieldsOf("get", "/api/entities/{id}")],
  },
  async ({ api, output, args }) => {
    const context = await api.get("/api/entities/{id}", { params: { path: { id: args.entity } } });
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
        {
          as: ([role]) => role,
          kbId: ([, item]) => item.kbId,
          title: flexible(([, item]) => item.title),
          updated: ([, item]) => item.updatedAt?.slice(0, 10) ?? "",
        },
        "You can see no items about it.",
      );
      output.table(
        context.relations,
        {
          relation: (relation) => relation.role,
          to: flexible((relation) => relation.name),
          type: (relation) => relation.type,
          id: (relation) => relation.entityId,
          items: (relation) => count(relation.itemCount),
          "shown by": (relation) => relation.kbId,
        },
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
