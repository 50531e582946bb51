import { expect, test } from "vitest";
import { z } from "zod";
import { capabilitiesOf, configJsonSchema, makeSourceRegistry } from "#sources/registry.ts";
import { NO_NETWORK } from "../network.ts";

const options = {
  allowedRoots: async () => ["/srv/docs"],
  dataFolder: "/var/lib/kb",
  isOpenToStrangers: false,
  guard: NO_NETWORK,
  searchPath: "",
};

test("every listed kind loads, and names itself as it is listed", async () => {
  const registry = makeSourceRegistry(options);
  const sources = await registry.list();
  expect(sources.map((source) => source.spec.providerId)).toEqual([...registry.providerIds]);
  expect(await registry.get("push")).toBe(await registry.get("push"));
  expect(capabilitiesOf(await registry.get("git"))).toEqual(["sync", "browse", "content", "scope"]);
  expect(capabilitiesOf(await registry.get("push"))).toEqual(["push"]);
});

test("an unknown kind is an error that lists the known ones", async () => {
  const registry = makeSourceRegistry(options);
  for (const providerId of ["nope", "constructor", "__proto__", "../filesystem"]) {
    expect(await registry.find(providerId)).toBeUndefined();
    await expect(registry.get(providerId)).rejects.toMatchObject({
      code: "provider_unknown",
      message: expect.stringContaining(`Known: ${registry.providerIds.join(", ")}.`),
    });
  }
});

test("the schema of a kind tells forms what to ask", async () => {
  const { spec } = await makeSourceRegistry(options).get("filesystem");
  expect(configJsonSchema(spec)).toMatchObject({
    type: "object",
    additionalProperties: false,
    required: ["root"],
    properties: { root: { type: "string", title: "Folder" }, gitignore: { type: "boolean", default: true } },
  });
});

test("what proves who signs in is masked, and of the credentials only names are shown", async () => {
  const shown = (await makeSourceRegistry(options).list()).flatMap(({ spec: { providerId, credentials } }) => {
    const { properties = {} } = credentials ? z.toJSONSchema(credentials, { io: "input" }) : {};
    return Object.entries(properties).flatMap(([key, property]) =>
      typeof property === "object" && property.format === "password" ? [] : [`${providerId} ${key}`],
    );
  });
  expect(shown.sort()).toEqual([
    "confluence email",
    "git username",
    "github appId",
    "github installation",
    "google-drive subject",
    "imap user",
    "jira email",
    "s3 accessKeyId",
    "web username",
    "webdav username",
  ]);
});

test("a mailbox is its owner's alone, and nothing else is", async () => {
  const sources = await makeSourceRegistry(options).list();
  expect(sources.filter(({ spec }) => spec.isForOwner).map(({ spec }) => spec.providerId)).toEqual(["imap"]);
});

test("folders can be connected only where roots are allowed, and never where strangers own workspaces", async () => {
  const reason = async (change: Partial<typeof options>) =>
    (await makeSourceRegistry({ ...options, ...change }).get("filesystem")).unavailable?.();
  expect(await reason({})).toBeUndefined();
  expect(await reason({ allowedRoots: async () => [] })).toContain("kb roots add PATH");
  expect(await reason({ isOpenToStrangers: true })).toContain("open sign-up");
});
