import { ApiError } from "#api/errors.ts";

declare const KB_BUILD_ID: string | undefined;

/** The id of this build; undefined when kb runs from source. */
const BUILD = typeof KB_BUILD_ID === "string" ? KB_BUILD_ID : undefined;

/** The file next to the bundles, which is written when all bundles exist. */
const FILE = "build.json";

/**
 * Checks that a program file loaded now belongs to the running build. An update replaces the files under a running
 * server, and a thread or child of another build would get messages that it doesn't understand.
 *
 * @throws ApiError `restart_needed` when the files belong to another build, or are being replaced
 */
export function checkBuild(build = BUILD, file = new URL(FILE, import.meta.url)): void {
  if (build !== undefined && readBuild(file) !== build) throw restartNeeded();
}

/**
 * Returns the error for a part of a build that failed to load because its files were replaced; undefined for any other
 * failure.
 */
export function explainMissingPart(error: unknown, build = BUILD): ApiError | undefined {
  if (build === undefined || !(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ERR_MODULE_NOT_FOUND") return restartNeeded(error);
  return error.cause === undefined ? undefined : explainMissingPart(error.cause, build);
}

function restartNeeded(cause?: unknown): ApiError {
  return new ApiError("restart_needed", {
    message: "kb was updated while it was running. Restart it to use the new version.",
    hint: "Stop the server and start it again; for the bridge, restart your MCP client",
    cause,
  });
}

function readBuild(file: URL): unknown {
  // Not a static import: the bridge starts without `node:fs`.
  const { readFileSync } = process.getBuiltinModule("node:fs");
  try {
    const info: unknown = JSON.parse(readFileSync(file, "utf8"));
    return typeof info === "object" && info !== null && "build" in info ? info.build : undefined;
  } catch {
    return undefined;
  }
}
