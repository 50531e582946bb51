import { api } from "#server/web/app/data/client.ts";
import { tryOrToast } from "#server/web/app/ui/toast.tsx";

/** Switches to another workspace; the page reloads there, so that nothing of the former one is left. */
export async function switchWorkspace(workspaceId: string): Promise<void> {
  await tryOrToast(async () => {
    await api.post("/api/session/workspace", { body: { workspaceId } });
    window.location.assign("/");
  });
}
