/**
 * Writes what is made from the contract, the commands and the settings: `docs/openapi.json`, the table of commands,
 * `docs/reference/cli.md`, `docs/mcp.md`, `docs/settings.md`, `docs/push-line.schema.json` and the tables of
 * `docs/fields.md` and `docs/clients.md`, and the drawing in `docs/architecture.md`.
 * It also refreshes the quotations of our code in the guides. With `--check` it writes nothing and fails when a file is not what it would write.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { makeCliReference } from "#cli/line/reference.ts";
import { makeMcpReference } from "#server/mcp/reference.ts";
import { makeSettingsReference } from "#server/settings/settings-reference.ts";
import { makePushLineSchema } from "#sources/push/json-schema.ts";
import { formatCliTable, makeCliTable } from "./cli-table.ts";
import { makeDocument } from "./openapi.ts";
import { refreshClients } from "./clients-table.ts";
import { refreshFields } from "./fields.ts";
import { refreshQuotes } from "./quotes.ts";
import { refreshDrawing } from "./size/drawing.ts";

await main(process.argv.includes("--check"));

async function main(isCheck: boolean): Promise<void> {
  const document = makeDocument();
  const cliTable = await makeCliTable(document);
  const outputs = [
    { path: "docs/openapi.json", text: `${JSON.stringify(document, null, 2)}\n` },
    { path: "src/cli/generated/table.ts", text: formatCliTable(cliTable) },
    { path: "docs/reference/cli.md", text: makeCliReference(cliTable.commands) },
    { path: "docs/mcp.md", text: makeMcpReference() },
    { path: "docs/settings.md", text: makeSettingsReference() },
    { path: "docs/push-line.schema.json", text: `${JSON.stringify(makePushLineSchema(), null, 2)}\n` },
    { path: "docs/fields.md", text: refreshFields(readFileSync(toFile("docs/fields.md"), "utf8")) },
    { path: "docs/clients.md", text: refreshClients(readFileSync(toFile("docs/clients.md"), "utf8")) },
    {
      path: "docs/architecture.md",
      text: refreshDrawing(readFileSync(toFile("docs/architecture.md"), "utf8")),
    },
    ...["CONTRIBUTING.md", "docs/add-a-source.md"].map((path) => ({
      path,
      text: refreshQuotes(readFileSync(toFile(path), "utf8")),
    })),
  ];
  const stale = outputs.filter(({ path, text }) => readIfThere(toFile(path)) !== text);
  if (isCheck) {
    for (const { path } of stale) process.stderr.write(`${path} is not what src/api says. Run: npm run gen\n`);
    process.exitCode = stale.length > 0 ? 1 : 0;
    return;
  }
  for (const { path, text } of stale) {
    mkdirSync(dirname(toFile(path)), { recursive: true });
    writeFileSync(toFile(path), text);
    process.stdout.write(`wrote ${relative(process.cwd(), toFile(path))}\n`);
  }
}

function toFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
