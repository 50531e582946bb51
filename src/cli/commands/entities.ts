import { count } from "#api/plural.ts";
import { ENTITY_TYPES } from "#api/tools.ts";
import { type Noun, oneOf, route } from "#cli/line/command.ts";
import { pageOf, PAGE_OPTIONS } from "#cli/line/options.ts";
import { callCommand, onlyById, remoteCommand } from "#cli/calls/remote-command.ts";
import { day, flexible, formatted } from "#cli/terminal/table.ts";

export const entities: Noun = {
  summary: "People, folders, labels and other things that items name.",
  verbs: {
    search: remoteCommand(
      {
        summary: "Find people, folders, labels and other things by name.",
        arguments: { "[query...]": "a name, an email or a login" },
        options: { "--type <type>": oneOf(ENTITY_TYPES, "only these"), ...PAGE_OPTIONS },
        examples: ["kb entities search anna --type person"],
        call: route("get", "/api/entities", "entities"),
      },
      async ({ api, output, args, options, send }) => {
        const answer = await send({
          query: { q: args.query.join(" "), type: options.type, ...pageOf(options, api.settings, 200) },
        });
        output.result(answer, ({ entities, nextCursor }) => {
          output.table(
            entities,
            {
              entityId: "entityId",
              type: "type",
              name: flexible("name"),
              items: formatted(count, "itemCount"),
              "last seen": formatted(day, "lastSeenAt"),
              in: flexible("providers"),
            },
            "Nothing you can see has that name.",
          );
          if (nextCursor !== null) output.talk(`More: --cursor ${nextCursor}`);
        });
      },
    ),
    show: callCommand(
      "get",
      "/api/entities/{id}",
      {
        summary: "Show what the items that you can see say about an entity.",
        of: onlyById("ent_…", "entity"),
        examples: ["kb entities show ent_2345abcd2345abcd"],
      },
      ({ entity, counts, openTasks, newest, relations, notes }, { output }) => {
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
        output.table(
          [
            ...openTasks.map((item) => ({ role: "open task", ...item })),
            ...newest.map((item) => ({ role: "newest", ...item })),
          ],
          { as: "role", kbId: "kbId", title: flexible("title"), updated: formatted(day, "updatedAt") },
          "You can see no items about it.",
        );
        output.table(
          relations,
          {
            relation: "role",
            to: flexible("name"),
            type: "type",
            id: "entityId",
            items: formatted(count, "itemCount"),
            "shown by": "kbId",
          },
          "You can see no relations.",
        );
        for (const note of notes) output.talk(`Note: ${note}`);
      },
    ),
  },
};
