import { expect, test } from "vitest";
import { refuseFoundSecrets, refuseKnownMasked, type MaskedStore } from "#server/files/masked-originals.ts";
import type { Actor } from "#storage/access/actor.ts";

const SECRET = `ghp_${"a1B2".repeat(9)}`;

function world({ masked = [], secrets = "mask" }: { masked?: string[]; secrets?: "mask" | "index" } = {}) {
  const connectors = { find: async () => ({ ownerUserId: "usr_owner" }) };
  const itemWrites = {
    hasMasked: async (_connectorId: string, id: string) =>
      masked.some((one) => one === id || one.startsWith(`${id}!//`)),
  };
  // The four methods that are asked here.
  return {
    in: () => ({ connectors, itemWrites }),
    workspaces: { find: async () => ({ secrets }) },
  } as unknown as MaskedStore;
}

function actorOf(type: "session" | "pat", userId = "usr_owner"): Actor {
  return { workspaceId: "w", userId, role: "owner", scopes: [], credential: { type, id: "x" }, timeZone: "UTC" };
}

const item = (externalId: string, indexState: "indexed" | "failed" = "indexed") => ({
  kbId: "k",
  connectorId: "c",
  externalId,
  indexState,
});

test("only a session of the connector's owner gets the original of an item in which something was masked", async () => {
  const store = world({ masked: ["a.txt", "b.zip!//conf"] });
  for (const id of ["a.txt", "b.zip"]) {
    await expect(refuseKnownMasked(store, actorOf("session"), item(id))).resolves.toBeUndefined();
    for (const other of [actorOf("pat"), actorOf("session", "usr_other")]) {
      await expect(refuseKnownMasked(store, other, item(id))).rejects.toMatchObject({ code: "original_masked" });
    }
  }
  await expect(refuseKnownMasked(store, actorOf("pat"), item("c.txt"))).resolves.toBeUndefined();
});

test("what couldn't be read counts as masked, unless the workspace wants secrets to be found", async () => {
  const asked = item("c.txt", "failed");
  await expect(refuseKnownMasked(world(), actorOf("pat"), asked)).rejects.toMatchObject({ code: "original_masked" });
  await expect(refuseKnownMasked(world({ secrets: "index" }), actorOf("pat"), asked)).resolves.toBeUndefined();
});

test("a secret in the bytes is found, also where two pieces meet", async () => {
  for (const before of [0, 256 * 1024 - 10, 600_000]) {
    const bytes = Buffer.from(`${"x ".repeat(before / 2)}${SECRET} rest`);
    await expect(refuseFoundSecrets(world(), actorOf("pat"), item("c"), bytes)).rejects.toMatchObject({
      code: "original_masked",
    });
    await expect(refuseFoundSecrets(world(), actorOf("session"), item("c"), bytes)).resolves.toBeUndefined();
    await expect(
      refuseFoundSecrets(world({ secrets: "index" }), actorOf("pat"), item("c"), bytes),
    ).resolves.toBeUndefined();
  }
  await expect(refuseFoundSecrets(world(), actorOf("pat"), item("c"), Buffer.from("plain"))).resolves.toBeUndefined();
});
