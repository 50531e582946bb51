import { api } from "#server/web/app/data/client.ts";
import { tryOrToast } from "#server/web/app/ui/toast.tsx";

/** Switches to another workspace. The page reloads, so that nothing of the previous workspace remains. */
export async function switchWorkspace(workspaceId: string): Promise<void> {
  await tryOrToast(async () => {
    await api.post("/api/session/workspace", { body: { workspaceId } });
    window.location.assign("/");
  });
}
