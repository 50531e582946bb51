import { expect, test } from "vitest";
import { up } from "#storage/migrations/0012-titles.ts";
import { makeKit } from "../../server/mcp/kit.ts";

test("what was indexed before gets its document's title, its key and its kind without being read again", async () => {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const [readme, mail, pushed, commit] = await kb.addItems(owner, [
    { title: "README.md", text: "a", fields: { documentTitle: "Payment service", pages: 1 } },
    {
      title: "msg-01.eml",
      text: "b",
      fields: { documentTitle: "Invoice", author: "Ana <ana@one.test>", created: "2024-03-05T10:11:12+01:00" },
    },
    { title: "Chosen", text: "c", fields: { documentTitle: "Own heading" } },
    { title: "Fix it", text: "d", kind: "message", fields: { documentTitle: "Untitled" } },
  ]);
  const { write } = kb.database;
  const files = [readme, mail, commit].map(String);
  await write.updateTable("items").set({ providerId: "filesystem" }).where("kbId", "in", files).execute();
  await write.updateTable("items").set({ mimeType: "message/rfc822" }).where("kbId", "=", String(mail)).execute();

  await up(write);
  const rows = await write.selectFrom("items").selectAll().execute();
  const of = (kbId: string | undefined) => rows.find((row) => row.kbId === kbId);
  expect(of(readme)).toMatchObject({ title: "Payment service", key: "README.md", kind: "file", fields: '{"pages":1}' });
  const sent = Date.parse("2024-03-05T10:11:12+01:00");
  expect(of(mail)).toMatchObject({ title: "Invoice", key: "msg-01.eml", kind: "message", updatedAt: sent });
  expect(JSON.parse(of(mail)?.fields ?? "")).toEqual({ from: "Ana <ana@one.test>", date: "2024-03-05T10:11:12+01:00" });
  expect(of(pushed)).toMatchObject({ title: "Chosen", key: null });
  expect(of(commit)).toMatchObject({ title: "Fix it", key: null });
});
