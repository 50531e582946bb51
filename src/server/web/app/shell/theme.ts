import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

const KEY = "kb-theme";
const watchers = new Set<() => void>();

/**
 * Returns the theme of this device and a function that changes it. `theme.js` sets the theme before the first paint.
 */
export function useTheme(): [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(watch, readTheme), setTheme];
}

function readTheme(): Theme {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

function setTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // A browser without storage keeps the theme until the page is closed.
  }
  for (const changed of watchers) changed();
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}
