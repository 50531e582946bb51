import { describe, expect, test } from "vitest";
import { MAPPING_ROLES, type MappingRole } from "#api/provider-servers.ts";
import { defaultArgument, rankTools, type Tool } from "#server/web/app/pages/servers/tool-choice.ts";

/** `name(required, optional?, list[])`, read-only; `!` before it = its server calls it deprecated. */
function toolOf(said: string): Tool {
  const [, mark, name = "", args = ""] = /^(!?)([^(]+)\((.*)\)$/.exec(said) ?? [];
  return {
    name,
    isReadOnly: true,
    ...(mark === "!" && { description: `Reads a file. DEPRECATED: use another one.` }),
    arguments: args
      .split(", ")
      .filter((one) => one !== "")
      .map((one) => ({
        name: one.replace(/[?[\]]/g, ""),
        type: one.includes("[]") ? "array" : "string",
        isRequired: !one.includes("?"),
      })),
  };
}

/** Servers that exist, as they list their tools, and the tool and argument of each role. */
const SERVERS: Readonly<Record<string, { tools: string[] } & Record<MappingRole, [string, string]>>> = {
  "server-filesystem": {
    tools: [
      "!read_file(path, tail?, head?)",
      "read_text_file(path, tail?, head?)",
      "read_media_file(path)",
      "read_multiple_files(paths[])",
      "write_file(path, content)",
      "edit_file(path, edits[], dryRun?)",
      "create_directory(path)",
      "list_directory(path)",
      "list_directory_with_sizes(path, sortBy?)",
      "directory_tree(path, excludePatterns?)",
      "move_file(source, destination)",
      "search_files(path, pattern, excludePatterns?)",
      "get_file_info(path)",
      "list_allowed_directories()",
    ],
    list: ["search_files", ""],
    search: ["search_files", "pattern"],
    fetch: ["read_text_file", "path"],
  },
  kb: {
    tools: [
      "kb_search(after?, limit?, cursor?, query)",
      "kb_search_entities(query)",
      "kb_get_entity_context(entityId)",
      "kb_get_file_content(kbId, offset?)",
    ],
    list: ["kb_search", "cursor"],
    search: ["kb_search", "query"],
    fetch: ["kb_get_file_content", "kbId"],
  },
  "search and fetch, as chat apps want them": {
    tools: ["fetch(id)", "search(query)"],
    list: ["search", ""],
    search: ["search", "query"],
    fetch: ["fetch", "id"],
  },
  "camel case, and one that writes first": {
    tools: [
      "createNote(title, body)",
      "deleteNote(noteId)",
      "getNote(noteId)",
      "findNotes(words, limit?)",
      "listNotes()",
    ],
    list: ["listNotes", ""],
    search: ["findNotes", "words"],
    fetch: ["getNote", "noteId"],
  },
  "names that say nothing": {
    tools: ["send_mail(to, subject)", "echo(message)"],
    list: ["echo", ""],
    search: ["echo", "message"],
    fetch: ["echo", "message"],
  },
};

describe.each(Object.entries(SERVERS))("%s", (_name, server) => {
  const tools = server.tools.map(toolOf);
  test.each(MAPPING_ROLES)("begins with the best fitting tool to %s", (role) => {
    const [first] = rankTools(tools, role);
    expect([first?.name, first && defaultArgument(first, role)]).toEqual(server[role]);
  });

  test.each(MAPPING_ROLES)("leaves none out to %s, and has what is deprecated last", (role) => {
    const ranked = rankTools(tools, role).map(({ name }) => name);
    expect(ranked.toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
    if (server.tools.some((one) => one.startsWith("!"))) expect(ranked.at(-1)).toBe("read_file");
  });
});

test("a server with deprecated tools alone has one to begin with, and one without tools none", () => {
  expect(rankTools([toolOf("!search(query)")], "search")[0]?.name).toBe("search");
  expect(rankTools([], "list")).toEqual([]);
});
