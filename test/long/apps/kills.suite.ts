import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, onTestFinished, test } from "vitest";
import { makeRandom } from "../../leaks/model.ts";
import { tempDir } from "../../temp-dir.ts";
import { startForge } from "./forge.ts";
import { connect, differences, endOf, kill, settled, startOn, syncNow, withoutClocks } from "./kills.ts";

interface Size {
  issues: number;
  kills: number;
  seed?: number;
  /** Figures of it. */
  say?: (line: string) => void;
}

export function describeKills({ issues, kills, seed = 1, say = () => undefined }: Size): void {
  describe(`a sync of ${issues} issues by the built server`, () => {
    test(
      "ends in the same state when it is killed; a cut listing deletes nothing, and 30 % fewer items are held",
      {
        timeout: 3_600_000,
      },
      async ({ expect }) => {
        const folder = tempDir();
        const third = Math.ceil(issues / 3);
        const forge = await startForge(folder, [third, third, issues - 2 * third]);
        onTestFinished(() => forge.server.stop());
        const startedAt = Date.now();
        const calm = await startOn(join(folder, "calm"), forge);
        const calmId = await connect(calm, forge);
        expect(await settled(calm, calmId)).toMatchObject({ state: "succeeded" });
        const sent = forge.sent;
        const wanted = endOf(calm);
        say(`in peace: ${wanted["items"]?.length} items, ${sent} requests, ${(Date.now() - startedAt) / 1_000} s`);
        expect(wanted["items"]?.length).toBeGreaterThan(issues);

        const random = makeRandom(seed);
        let killed = await startOn(join(folder, "killed"), forge);
        const killedId = await connect(killed, forge);
        const from = forge.sent;
        let hits = 0;
        for (let at = 0; at < kills; at++) {
          // One moment in each equal part of the run.
          const moment = Math.floor(((at + random.next()) / kills) * sent * 0.95);
          for (;;) {
            const { syncs } = (await killed.admin("GET", `/api/connectors/${killedId}/syncs`)).json;
            const isOver = syncs.every(({ finishedAt }: { finishedAt: string | null }) => finishedAt !== null);
            const isGivenUp = isOver && syncs[0]?.state === "failed";
            // A run is given up after five dead workers; the next one goes on where it stood.
            if (isGivenUp) await killed.admin("POST", `/api/connectors/${killedId}/syncs`, {});
            if (forge.sent - from >= moment || (isOver && !isGivenUp)) break;
            await wait(20);
          }
          await wait(random.int(40));
          const before = await settledOrNot(killed, killedId);
          await kill(killed);
          if (!before) hits++;
          say(`killed after ${forge.sent - from} requests, with ${endOf(killed)["items"]?.length} items`);
          killed = await startOn(killed.dataDir, forge);
        }
        let last = await settled(killed, killedId);
        while (last.state === "failed") last = await syncNow(killed, killedId, "full");
        // One that reads groups is given up as well, and is due again in a quarter of an hour: resuming asks at once.
        const { json } = await killed.admin("GET", `/api/connectors/${killedId}/people`);
        const isGivenUp = json.summary.lastSync?.state === "failed";
        for (const act of isGivenUp ? ["pause", "resume"] : [])
          await killed.admin("POST", `/api/connectors/${killedId}/${act}`, {});
        if (isGivenUp) say(`the run of groups was given up: ${json.summary.lastSync.problem.message}`);
        await settled(killed, killedId);
        expect(hits).toBeGreaterThanOrEqual(Math.ceil(kills * 0.7));
        expect(differences(wanted, endOf(killed))).toEqual([]);
        say(`${hits} of ${kills} kills met the run: the same end state, ${forge.sent - from} requests`);
        await kill(killed);

        // Nothing is deleted by a listing that is cut: in the middle of a page, or by a failure.
        for (const status of [0, 502]) {
          let pages = 0;
          forge.server.instead = ({ path }, response) => {
            if (!/^\/repositories\/\d+\/issues\?/.test(path) || ++pages <= 2) return false;
            if (status === 0) {
              response.writeHead(200, { "content-type": "application/json", "content-length": "5000" }).write("[{");
              setImmediate(() => response.destroy());
            } else response.writeHead(status).end("{}");
            return true;
          };
          const cut = await syncNow(calm, calmId, "full");
          expect(cut.state).not.toBe("succeeded");
          // What could not be looked at has a clock of its own.
          expect(differences(wanted, withoutClocks(endOf(calm)))).toEqual([]);
        }
        forge.server.instead = undefined;

        // 30 % are not there any more, and nobody says why.
        for (const { issues: all } of forge.repositories)
          for (const [number] of [...all].slice(0, Math.ceil(all.size * 0.3))) all.delete(number);
        await syncNow(calm, calmId, "full");
        const { held = [], items = [] } = endOf(calm);
        expect(held.length).toBeGreaterThanOrEqual(issues * 0.3);
        expect(items.filter((row) => row.includes('"isRemoved":1'))).toEqual([]);
        say(`30 % fewer: ${held.length} items are held, none is removed`);
        await kill(calm);
      },
    );
  });
}

async function settledOrNot({ admin }: Awaited<ReturnType<typeof startOn>>, connectorId: string): Promise<boolean> {
  const { syncs } = (await admin("GET", `/api/connectors/${connectorId}/syncs`)).json;
  return syncs.every(({ finishedAt }: { finishedAt: string | null }) => finishedAt !== null);
}
