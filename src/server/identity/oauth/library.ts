import type * as oidcProvider from "oidc-provider";

/** The authorization server's library, once loaded. */
export type Library = typeof oidcProvider;

/**
 * Loads the library. That takes 240–450 ms, which server start and unrelated requests must not pay.
 *
 * The library prints on the console that Node 20 is not supported. Every part used here is tested on Node 20, so the
 * message is suppressed.
 */
export async function loadLibrary(): Promise<Library> {
  // oxlint-disable no-console -- the library writes there when it is imported, and gives no other way to stop it
  const { warn } = console;
  console.warn = (...words: unknown[]) => {
    if (!String(words[0]).includes("Unsupported runtime")) warn(...words);
  };
  try {
    return await import("oidc-provider");
  } finally {
    console.warn = warn;
  }
  // oxlint-enable no-console
}
