import type { InstallationStore } from "#server/ports/store/installation.ts";
import type { SqlHandles } from "../handles.ts";

export function makeInstallationStore(_sql: SqlHandles): InstallationStore {
  return {};
}
