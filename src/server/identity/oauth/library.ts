import type * as oidcProvider from "oidc-provider";

/** The OAuth library, once it is loaded. */
export type Library = typeof oidcProvider;

/**
 * Loads the OAuth library. Loading takes 240–450 ms, which would delay the server's start and unrelated requests.
 *
 * The library prints on the console that Node 20 is not supported. Every function of it that kb uses is tested on Node
 * 20, so the message is suppressed.
 */
export async function loadLibrary(): Promise<Library> {
  // oxlint-disable no-console -- the library prints when it is imported, and has no other way to stop it
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
