import { join } from "node:path";
import { test } from "vitest";
import { openWriter } from "#storage/sqlite.ts";
import { WriterEngine } from "#storage/writer/engine.ts";
import { tempDir } from "../../temp-dir.ts";

test("nothing touches the connection after the engine was closed, upkeep included", async ({ expect }) => {
  const connection = openWriter(join(tempDir(), "kb.db"), "normal");
  const scheduled: (() => void)[] = [];
  let slices = 0;
  const engine = new WriterEngine({
    connection,
    procedures: new Map([["nothing", () => undefined]]),
    schedule: (run) => void scheduled.push(run),
    upkeep: () => ++slices > 0,
  });
  await engine.request({ type: "call", name: "nothing", args: {} }, "interactive");
  await new Promise((resolve) => setImmediate(resolve));
  expect(scheduled).toHaveLength(1);
  engine.close();
  connection.close();
  for (const run of scheduled) run();
  expect(slices).toBe(0);
});
