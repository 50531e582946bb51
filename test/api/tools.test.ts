import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { INSTRUCTIONS, TOOL_NAMES, TOOLS } from "#api/tools.ts";

const ALLOWED = new Set(["type", "properties", "required", "enum", "items", "description"]);

describe("the published tools", () => {
  test("are the seed's four, in fixed order", () => {
    expect(TOOLS.map((tool) => tool.name)).toEqual([
      "kb_search",
      "kb_search_entities",
      "kb_get_entity_context",
      "kb_get_file_content",
    ]);
    expect(TOOL_NAMES).toEqual(TOOLS.map((tool) => tool.name));
  });

  test("use only schema words that every model API accepts, and one required argument each", () => {
    let schemas = 0;
    const walk = (schema: unknown): void => {
      if (typeof schema !== "object" || schema === null) throw new Error("a schema is an object");
      schemas += 1;
      for (const [key, value] of Object.entries(schema)) {
        expect(ALLOWED).toContain(key);
        if (key === "type") expect(typeof value).toBe("string");
        if (key === "properties") Object.values(value as object).forEach(walk);
        if (key === "items") walk(value);
      }
    };
    for (const tool of TOOLS) {
      walk(tool.inputSchema);
      if (tool.outputSchema !== undefined) walk(tool.outputSchema);
      expect(tool.inputSchema.required).toHaveLength(1);
      for (const name of tool.inputSchema.required ?? []) expect(tool.inputSchema.properties).toHaveProperty(name);
    }
    expect(schemas).toBeGreaterThan(40);
  });

  test("cost at most 1,400 tokens, 1,600 with their output schemas", () => {
    const bare = TOOLS.map(({ outputSchema: _output, ...tool }) => tool);
    expect(countTokens(JSON.stringify({ tools: bare }))).toBeLessThanOrEqual(1400);
    expect(countTokens(JSON.stringify({ tools: TOOLS }))).toBeLessThanOrEqual(1600);
    expect(countTokens(INSTRUCTIONS)).toBeLessThanOrEqual(150);
  });

  test("say that they only read, and that items can hold outsiders' text", () => {
    for (const tool of TOOLS) {
      expect(tool.annotations).toEqual({
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      });
    }
    const structured = TOOLS.filter((tool) => tool.outputSchema !== undefined).map((tool) => tool.name);
    expect(structured).toEqual(["kb_search", "kb_search_entities", "kb_get_entity_context"]);
  });
});
