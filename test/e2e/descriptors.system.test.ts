/** A server with few open files, and a crowd of connections that ask nothing. */
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { tempDir } from "../temp-dir.ts";
import { BOOTSTRAP, cleanEnv, CLI } from "./server-process.ts";

const [OPEN_FILES, CONNECTIONS] = [256, 400];

test("a crowd of idle connections ends no server, which says what to do and goes on answering", async ({ expect }) => {
  const dir = tempDir();
  const command = `ulimit -n ${OPEN_FILES}; exec "$0" "$1" serve --port 0 --data-dir "$2"`;
  const child = spawn("bash", ["-c", command, process.execPath, CLI, join(dir, "data")], {
    env: cleanEnv(dir, BOOTSTRAP),
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (part: Buffer) => (said += part.toString("utf8")));
  }
  await expect.poll(() => said).toMatch(/listening on http:/u);
  const url = /listening on (http:\S+)/u.exec(said)?.[1] ?? "";

  const sockets = Array.from({ length: CONNECTIONS }, () => connect(Number(new URL(url).port), "127.0.0.1"));
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  // Refused ones end with an error or without one.
  await Promise.all(
    sockets.map((socket) => new Promise((settle) => socket.once("connect", settle).once("error", settle))),
  );
  await expect.poll(() => said).toContain("Open files are near the limit");
  await expect
    .poll(() =>
      fetch(`${url}/readyz`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  expect(child.exitCode).toBeNull();
  expect(said).not.toContain("EMFILE");
});
