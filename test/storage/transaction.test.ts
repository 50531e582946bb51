import { DatabaseSync } from "@photostructure/sqlite";
import { onTestFinished, test } from "vitest";
import { inTransaction } from "#storage/transaction.ts";

function openMemory() {
  const raw = new DatabaseSync(":memory:");
  onTestFinished(() => raw.close());
  raw.exec("create table t (n integer primary key)");
  raw.exec("create table parts (t integer references t (n) deferrable initially deferred)");
  raw.exec("pragma foreign_keys=on");
  const insert = (n: number) => raw.prepare("insert into t values (?)").run(n);
  return { raw, insert, count: () => raw.prepare("select count(*) as n from t").get()?.n };
}

test("work that does not wait is committed when it returns, work that waits when it ends", async ({ expect }) => {
  const { raw, insert, count } = openMemory();
  expect(inTransaction(raw, () => insert(1).changes)).toBe(1);
  expect(raw.isTransaction).toBe(false);
  const later = inTransaction(raw, async () => {
    insert(2);
    await Promise.resolve();
    return "done";
  });
  expect(raw.isTransaction).toBe(true);
  expect(await later).toBe("done");
  expect([raw.isTransaction, count()]).toEqual([false, 2]);
});

test("work that throws, at once or later, leaves nothing and its error comes out", async ({ expect }) => {
  const { raw, insert, count } = openMemory();
  const fail = (message: string): never => {
    insert(1);
    throw new Error(message);
  };
  expect(() => inTransaction(raw, () => fail("at once"))).toThrow("at once");
  await expect(inTransaction(raw, async () => Promise.resolve().then(() => fail("later")))).rejects.toThrow("later");
  expect([raw.isTransaction, count()]).toEqual([false, 0]);
});

test("a commit that fails is rolled back", async ({ expect }) => {
  const { raw, insert, count } = openMemory();
  const orphan = () => {
    insert(1);
    raw.exec("insert into parts values (99)");
  };
  expect(() => inTransaction(raw, orphan)).toThrow(/FOREIGN KEY/);
  await expect(inTransaction(raw, async () => orphan())).rejects.toThrow(/FOREIGN KEY/);
  expect([raw.isTransaction, count()]).toEqual([false, 0]);
});
