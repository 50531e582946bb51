import type * as oidcProvider from "oidc-provider";

/** The authorization server's library, as it is loaded. */
export type Library = typeof oidcProvider;

/**
 * Loads the library: 240–450 ms that no start of the server and no request to anything else should pay.
 *
 * It says on the console that Node 20 is not supported. Everything of it that is used here is tested on Node 20, so the
 * sentence is kept from your administrator.
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
