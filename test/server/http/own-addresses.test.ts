import { describe, expect, test } from "vitest";
import { ownBaseUrl, ownResource } from "#server/http/own-addresses.ts";

const LOCAL = "http://127.0.0.1:7700";

describe("the public address as a request spells it", () => {
  test.each([
    [LOCAL, "localhost:7700", "http://localhost:7700"],
    [LOCAL, "LOCALHOST:7700", "http://localhost:7700"],
    [LOCAL, "127.0.0.1:7700", LOCAL],
    ["http://localhost:7700", "127.0.0.1:7700", LOCAL],
    [LOCAL, "localhost:7701", LOCAL],
    [LOCAL, "localhost", LOCAL],
    [LOCAL, "[::1]:7700", LOCAL],
    [LOCAL, "127.0.0.2:7700", LOCAL],
    [LOCAL, "kb.localhost:7700", LOCAL],
    [LOCAL, "evil.test:7700", LOCAL],
    [LOCAL, "", LOCAL],
    [LOCAL, undefined, LOCAL],
    ["https://127.0.0.1:7700", "localhost:7700", "https://127.0.0.1:7700"],
    ["https://kb.example.org", "localhost:7700", "https://kb.example.org"],
    ["http://10.0.0.5:7700", "localhost:7700", "http://10.0.0.5:7700"],
    ["http://[::1]:7700", "localhost:7700", "http://[::1]:7700"],
  ])("%s, asked as %s, is %s", (baseUrl, host, own) => {
    expect(ownBaseUrl(baseUrl, host)).toBe(own);
  });
});

describe("the audience that a resource means", () => {
  test.each([
    [LOCAL, `${LOCAL}/mcp`],
    [LOCAL, `${LOCAL}/mcp/`],
    [LOCAL, LOCAL],
    [LOCAL, `${LOCAL}/`],
    [LOCAL, "http://localhost:7700/mcp"],
    [LOCAL, "http://localhost:7700/mcp/"],
    [LOCAL, "http://localhost:7700"],
    ["https://kb.example.org", "https://kb.example.org/mcp/"],
    ["https://kb.example.org", "https://KB.example.org"],
  ])("at %s, %s is the tools", (baseUrl, resource) => {
    expect(ownResource(baseUrl, resource)).toBe(`${baseUrl}/mcp`);
  });

  test("the command line's other audience has a twin, too", () => {
    expect(ownResource(LOCAL, "http://localhost:7700/api")).toBe(`${LOCAL}/api`);
  });

  test.each([
    [LOCAL, "http://localhost:7701/mcp"],
    [LOCAL, "http://[::1]:7700/mcp"],
    [LOCAL, "https://localhost:7700/mcp"],
    [LOCAL, `${LOCAL}/mcp/x`],
    [LOCAL, `${LOCAL}/mcp?x=1`],
    [LOCAL, `${LOCAL}/mcp#x`],
    [LOCAL, "http://user@127.0.0.1:7700/mcp"],
    [LOCAL, "http://127.0.0.1:7700.evil.test/mcp"],
    [LOCAL, "mcp"],
    [LOCAL, ""],
    ["https://kb.example.org", "http://localhost:7700/mcp"],
    ["https://kb.example.org", "http://kb.example.org/mcp"],
  ])("at %s, %s stays what it is", (baseUrl, resource) => {
    expect(ownResource(baseUrl, resource)).toBe(resource);
  });
});
