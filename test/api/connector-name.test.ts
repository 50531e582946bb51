import { expect, test } from "vitest";
import { defaultConnectorName, distinctName } from "#api/connector-name.ts";

test("a connector is named after its first setting, and numbered where another has the name", () => {
  const source = { name: "Gitea", configSchema: { required: ["url"] } };
  expect(defaultConnectorName(source, { url: "https://git.test/" })).toBe("git.test");
  expect(defaultConnectorName(source, {})).toBe("Gitea");
  expect(distinctName("git.test", [])).toBe("git.test");
  expect(distinctName("git.test", ["Git.test", "git.test 3"])).toBe("git.test 2");
  expect(distinctName("git.test", ["git.test", "git.test 2"])).toBe("git.test 3");
  const long = "x".repeat(80);
  expect(distinctName(long, [long])).toBe(`${"x".repeat(78)} 2`);
});
