import { randomBytes } from "node:crypto";
import { describe, test } from "vitest";
import { rekey } from "#server/rekey.ts";
import { SEALED_TABLES } from "#storage/records/sealed.ts";
import { makeVault } from "#storage/vault.ts";
import { openTestStore } from "../helpers.ts";

const key = (id: string, byte: number) => ({ id, key: new Uint8Array(32).fill(byte) });
const OLD = key("old", 1);
const NEW = key("new", 2);

/** A store with secrets that these keys have sealed, in turn. */
async function makeSealed(count: number, ...keys: (typeof OLD)[]) {
  const { store, database } = await openTestStore();
  const vaults = keys.map((one) => makeVault([one], randomBytes));
  for (let at = 0; at < count; at++) {
    const stateHash = String(at).padStart(4, "0");
    const place = { table: "sso_flows", row: [stateHash], column: "sealed" };
    const sealed = vaults[at % vaults.length]?.seal(place, `secret ${at}`) ?? "";
    const flow = { stateHash, browserHash: "", sessionId: null, sealed, returnTo: "/", createdAt: 0, expiresAt: 1 };
    await store.sso.insertFlow(flow);
  }
  const open = async (vault: ReturnType<typeof makeVault>) => {
    const rows = await database.read.selectFrom("sso_flows").select(["stateHash", "sealed"]).execute();
    return rows.map(({ stateHash, sealed }) =>
      vault.open({ table: "sso_flows", row: [stateHash], column: "sealed" }, sealed),
    );
  };
  return { store, database, open };
}

describe("rekeying", () => {
  test("seals everything with the newest key, and goes on after an interruption", async ({ expect }) => {
    const { store, open } = await makeSealed(450, OLD);
    const vault = makeVault([NEW, OLD], randomBytes);
    const stopped = rekey({ store, vault }, ({ done }) => {
      if (done >= 200) throw new Error("The process ends here.");
    });
    await expect(stopped).rejects.toThrow("ends here");
    const seen: number[] = [];
    const end = await rekey({ store, vault }, ({ done }) => void seen.push(done));
    expect(end).toEqual({ done: 450, total: 450, resealed: 250, unreadable: 0 });
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    // The old key is needed no more.
    expect((await open(makeVault([NEW], randomBytes))).length).toBe(450);
    expect((await rekey({ store, vault }, () => undefined)).resealed).toBe(0);
  });

  test("leaves what no key opens as it is, and counts it", async ({ expect }) => {
    const { store } = await makeSealed(4, OLD, key("lost", 3));
    const end = await rekey({ store, vault: makeVault([NEW, OLD], randomBytes) }, () => undefined);
    expect(end).toEqual({ done: 4, total: 4, resealed: 2, unreadable: 2 });
  });

  test("knows every table that has an envelope", async ({ expect }) => {
    const { database } = await openTestStore();
    const tables = await database.read.introspection.getTables();
    const sealed = tables
      .filter(({ columns }) => columns.some(({ name }) => name === "sealed"))
      .map(({ name }) => name);
    expect(sealed.sort()).toEqual(Object.keys(SEALED_TABLES).sort());
  });
});
