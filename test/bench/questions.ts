/** What benchmarks ask a server, and as whom. */
import { readdirSync, readFileSync } from "node:fs";
import { type Agent, request } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";

const QUESTIONS = 400;

/** One request and its whole answer. @throws Error for anything but a success */
export function exchange(
  agent: Agent,
  url: string,
  body: string | undefined,
  headers: Record<string, string>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const outgoing = request(url, { agent, method, headers }, (answer) => {
      let text = "";
      answer.on("data", (part: Buffer) => (text += part.toString("latin1")));
      answer.on("end", () => {
        const isGood = answer.statusCode === 200 && !text.includes('"isError":true');
        if (isGood) resolve();
        else reject(new Error(`${method} ${url} ${body ?? ""}: ${answer.statusCode} ${text}`));
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Two or three words that stand together in a file, as somebody who knows the file would ask. */
export function makeQuestions(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => TEXT_NAME.test(name));
  const questions: string[] = [];
  for (let n = 0; questions.length < QUESTIONS && n < QUESTIONS * 4; n++) {
    const name = names[(n * 7_919) % names.length] ?? "";
    const words = readFileSync(join(folder, name), "utf8").match(/[A-Za-z]{4,12}/gu) ?? [];
    const at = (n * 104_729) % Math.max(1, words.length - 8);
    const chosen = [words[at], words[at + 3], ...(n % 2 === 0 ? [words[at + 6]] : [])];
    if (chosen.every((word) => word !== undefined)) questions.push(chosen.join(" "));
  }
  return questions;
}

const TEXT_NAME = /\.(?:md|txt|html?|rst|py|js|ts|c|h)$/u;

/** The one workspace, its epoch, and all principals that any list of it names: they open what the admin's own open. */
export function readEverybody(file: string): { workspaceId: string; principals: string[]; epoch: number } {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = db.prepare("select workspaceId, principal from access_principals").all();
    const principals = rows.map((row) => String(row["principal"])).sort();
    const workspaceId = String(rows[0]?.["workspaceId"]);
    const state = db.prepare("select epoch from access_state where workspaceId = ?").get(workspaceId);
    return { workspaceId, principals, epoch: Number(state?.["epoch"]) };
  } finally {
    db.close();
  }
}
