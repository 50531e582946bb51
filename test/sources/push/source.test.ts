import { expect, test } from "vitest";
import { authorityOf } from "#core/principals.ts";
import { configSchema } from "../../kit/spec-checks.ts";
import { makePushSource } from "#sources/push/index.ts";

test("push takes a key, has a strict configuration and is never read", async () => {
  const source = makePushSource();
  expect(source.spec).toMatchObject({ providerId: "push", auth: [{ type: "key" }], acl: "per_item" });
  expect(source.sessions).toBeUndefined();
  expect(source.spec.config.safeParse({ source: "tracker" }).success).toBe(true);
  for (const bad of [{ source: "" }, { source: " " }, { key: "x" }]) {
    expect(source.spec.config.safeParse(bad).success).toBe(false);
  }
  const fixture = {
    source,
    config: {},
    badConfigs: [{}],
    authority: authorityOf({ connectorId: "con_aaaaaaaaaaaaaaaa", providerId: "push" }),
    minItems: 0,
    narrowerScope: { include: [], exclude: [] },
    add: async () => "",
    edit: async () => "",
    remove: async () => "",
  };
  expect(await configSchema.run(fixture)).toEqual([]);
});
