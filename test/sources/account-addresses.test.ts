import { expect, test } from "vitest";
import { z } from "zod";
import { GiteaConfig } from "#sources/gitea/config.ts";
import { GithubConfig } from "#sources/github/config.ts";
import { SlackConfig } from "#sources/slack/config.ts";

test.each([
  ["gitea", GiteaConfig, "url", "baseUrl"],
  ["github", GithubConfig, "apiUrl", "apiUrl"],
  ["slack", SlackConfig, "url", "baseUrl"],
] as const)("a connector of %s takes its address from an account", (_name, config, key, from) => {
  const { properties = {} } = z.toJSONSchema(config as z.ZodType, { io: "input" });
  const marked = Object.entries(properties).filter(
    ([, schema]) => typeof schema === "object" && "fromAccount" in schema,
  );
  expect(marked.map(([name, schema]) => [name, typeof schema === "object" && schema["fromAccount"]])).toEqual([
    [key, from],
  ]);
});
