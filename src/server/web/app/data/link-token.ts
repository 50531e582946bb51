/**
 * Secrets in links that were mailed, handed over or printed, and in links to an account found at a provider:
 * `/invite#token=…`, `/welcome#code=…`, `/connect#intent=…`, `#found=…`.
 */
import { useSyncExternalStore } from "react";

let held: string | undefined;

/**
 * Removes the secret from the address bar before anything is drawn. It must not stay in the history, in a screenshot or
 * in a copied address. Call it before the router reads the address.
 */
export function takeLinkToken(): void {
  const fragment = new URLSearchParams(window.location.hash.slice(1));
  const token = ["token", "code", "intent", "found"].map((name) => fragment.get(name)).find((value) => value !== null);
  if (!token) return;
  held = token;
  window.history.replaceState(null, "", window.location.pathname + window.location.search);
}

/** Returns the secret of the link that opened this page, for as long as the page is open. */
export function useLinkToken(): string | undefined {
  return useSyncExternalStore(watch, () => held);
}

/** Watches for a link that is pasted into the open page, which changes only the fragment. */
function watch(changed: () => void): () => void {
  const onHashChange = () => {
    takeLinkToken();
    changed();
  };
  window.addEventListener("hashchange", onHashChange);
  return () => window.removeEventListener("hashchange", onHashChange);
}
