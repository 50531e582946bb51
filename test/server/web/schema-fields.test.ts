import { generateKeyPairSync } from "node:crypto";
import { describe, test } from "vitest";
import { z } from "zod";
import { GitCredentials } from "#sources/git-repository/config.ts";
import { GithubCredentials } from "#sources/github/config.ts";
import { fieldsIn, valuesOf } from "#server/web/app/pages/connectors/schema-fields.ts";

const schema = z.toJSONSchema(
  z.strictObject({
    hidden: z.boolean().default(false),
    url: z.string().meta({ title: "Address", description: "Where it is." }),
    most: z.number().default(50),
    forge: z.enum(["gitea", "none"]).optional(),
    content: z.array(z.enum(["issues", "files"])).default(["issues", "files"]),
    readers: z.array(z.string()).default(["workspace"]),
    key: z.string().optional().meta({ contentMediaType: "text/plain" }),
    nested: z.strictObject({ a: z.string() }).optional(),
  }),
  { io: "input" },
);
const fields = fieldsIn(schema, "config");

function form(values: Record<string, string | string[]>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(values)) for (const one of [value].flat()) data.append(name, one);
  return data;
}

describe("the form of a source", () => {
  test("has a field for each setting of a known shape, the required ones first", ({ expect }) => {
    expect(fields.map(({ key, type, isRequired }) => [key, type, isRequired])).toEqual([
      ["url", "text", true],
      ["hidden", "yesNo", false],
      ["most", "number", false],
      ["forge", "one", false],
      ["content", "some", false],
      ["readers", "list", false],
      ["key", "lines", false],
    ]);
    expect(fields[0]).toMatchObject({ name: "config.url", title: "Address", description: "Where it is." });
    expect(fieldsIn(undefined, "credentials")).toEqual([]);
  });

  test("keeps the lines of a key file, as it is pasted anywhere, and takes what GitHub and git take", ({ expect }) => {
    const pem = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey.export({
      type: "pkcs1",
      format: "pem",
    });
    const sent = form({ "config.key": ` ${String(pem).replaceAll("\n", "\r\n")}\r\n\r\n` });
    expect(valuesOf(fields, sent)).toMatchObject({ key: pem });
    for (const credentials of [GithubCredentials, GitCredentials]) {
      const keys = fieldsIn(z.toJSONSchema(credentials, { io: "input" }), "credentials");
      expect(keys.find(({ key }) => key === "privateKey")).toMatchObject({ type: "lines" });
      expect(keys.find(({ key }) => key === "token")).toMatchObject({ type: "text" });
    }
    expect(valuesOf(fields, form({ "config.key": " \r\n" })).key).toBeUndefined();
  });

  test("sends what a person gave in its type, and nothing that the server has anyway", ({ expect }) => {
    const untouched = { "config.most": "50", "config.readers": "workspace", "config.content": ["issues", "files"] };
    expect(valuesOf(fields, form({ ...untouched, "config.url": " https://a.test ", "config.forge": "" }))).toEqual({
      url: "https://a.test",
    });
    expect(
      valuesOf(
        fields,
        form({
          "config.hidden": "yes",
          "config.most": "1.5",
          "config.forge": "none",
          "config.content": "files",
          "config.readers": "grp_a\n\n grp_b ",
        }),
      ),
    ).toEqual({ hidden: true, most: 1.5, forge: "none", content: ["files"], readers: ["grp_a", "grp_b"] });
    // Everything unticked is a choice, too: the server says whether it can be.
    expect(valuesOf(fields, form({})).content).toEqual([]);
  });
});
