/**
 * One operation on the system's keychain, in its own process; `keychain.ts` starts it and explains why. Reads one JSON
 * request from stdin and writes one JSON answer, so that no secret is in an argument or a variable.
 */
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import type { AsyncEntry as Entry } from "@napi-rs/keyring";

const SERVICE = "kb";
/** Without this option the library falls back to the kernel's keyring, which is emptied by a restart. Source: docs/decisions/0016. */
const OPTIONS = { linux: { store: "secret-service" } } as const;

process.stdout.write(JSON.stringify(await answer()));

async function answer(): Promise<unknown> {
  try {
    // The cast is safe because our own parent process wrote the request.
    const request = JSON.parse(await text(process.stdin)) as { op: string; account: string; secret?: string };
    // The package is optional. If it isn't installed, this call throws, which is reported to the parent. `require` is used because an `import` of a
    // missing package breaks the build.
    const load = createRequire(import.meta.url);
    // The package's own types declare this class.
    const { AsyncEntry } = load("@napi-rs/keyring") as { AsyncEntry: typeof Entry };
    const entry = new AsyncEntry(SERVICE, request.account, OPTIONS);
    if (request.op === "save") await entry.setPassword(request.secret ?? "");
    else if (request.op === "remove") await entry.deletePassword();
    else return { ok: true, secret: (await entry.getPassword()) ?? null };
    return { ok: true };
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : String(error) };
  }
}
