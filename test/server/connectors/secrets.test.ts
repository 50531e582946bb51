import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { PLANTED_SECRETS } from "../../text/planted-secrets.ts";
import { FOLDER, makeConnectorServer } from "./server.ts";
import { item } from "../sync/harness.ts";
import { verifies } from "../../requirements.ts";

const SECRETS = PLANTED_SECRETS.map(({ secret }) => secret);

async function makeVault() {
  const kb = await makeConnectorServer();
  kb.world.items = PLANTED_SECRETS.map(({ text }, n) => ({
    ...item(`${n}.md`, `Deploy notes ${n}\n\nUse ${text} for the staging runner.\n`),
    ...(n === 0 && { fields: { hint: text }, labels: [text], path: ["ops", text] }),
  }));
  const { json } = await kb.as(kb.owner).post("/api/connectors", { ...FOLDER, access: { visibility: "workspace" } });
  await kb.worker.runUntilIdle();
  const connectorId: string = json.connector.id;
  const counts = async () => (await kb.as(kb.owner).get(`/api/connectors/${connectorId}`)).json.connector.counts;
  const find = async (query: string) =>
    (await kb.as(kb.member).get(`/api/connectors/search?query=${encodeURIComponent(query)}&limit=50`)).json;
  const contents = async () => {
    const { json: page } = await kb.as(kb.member).get("/api/connectors/all-files?limit=200");
    const texts: string[] = [JSON.stringify(page)];
    for (const file of page.files as { kbId: string }[])
      texts.push((await kb.as(kb.member).get(`/api/connectors/files/${file.kbId}/content`)).text);
    return texts.join("\n");
  };
  return { ...kb, connectorId, counts, find, contents };
}

/** The database with its log, as bytes: nothing may lie in a free page either that a search could bring up. */
function bytesOf(file: string): string {
  return [file, `${file}-wal`].map((name) => readFileSync(name, "latin1")).join("");
}

verifies("secrets:masked", "of 60 planted secrets none is found, read, listed or kept in the file", async () => {
  const kb = await makeVault();
  expect(await kb.counts()).toMatchObject({ indexed: SECRETS.length, maskedSecrets: SECRETS.length + 3 });
  const shown = await kb.contents();
  for (const secret of SECRETS) expect(shown).not.toContain(secret);
  expect(shown).toContain("[removed: aws key]");
  for (const secret of SECRETS) {
    expect((await kb.find(`"${secret}"`)).total, secret).toBe(0);
    expect(JSON.stringify((await kb.find(`hint:"${secret}"`)).notes)).not.toContain("as a field");
    expect(JSON.stringify((await kb.find(`staging runner ${secret}`)).results)).not.toContain(secret.slice(0, 12));
  }
  expect((await kb.find("removed private key")).total).toBeGreaterThan(3);
  const bytes = bytesOf(kb.database.file);
  for (const secret of SECRETS) {
    expect(bytes).not.toContain(secret);
    expect(bytes).not.toContain(secret.toLowerCase());
  }
});

verifies("secrets:setting", "an admin may have secrets indexed, and taken out again from what is stored", async () => {
  const kb = await makeVault();
  const [aws = ""] = SECRETS;
  expect(await kb.as(kb.member).patch("/api/workspace", { secrets: "index" })).toMatchObject({ status: 403 });
  expect((await kb.as(kb.admin).patch("/api/workspace", { secrets: "index" })).json.workspace.secrets).toBe("index");
  kb.clock.advance(2_000);
  await kb.worker.runUntilIdle();
  expect((await kb.find(`AKIA${aws}`)).total).toBe(1);
  expect(await kb.counts()).toMatchObject({ maskedSecrets: 0 });

  await kb.as(kb.admin).patch("/api/workspace", { secrets: "mask" });
  await kb.worker.runUntilIdle();
  expect((await kb.find(`AKIA${aws}`)).total).toBe(0);
  expect((await kb.find("staging runner")).total).toBe(SECRETS.length);
  const shown = await kb.contents();
  for (const secret of SECRETS) expect(shown).not.toContain(secret);
  expect(await kb.counts()).toMatchObject({ maskedSecrets: SECRETS.length + 3 });
});
