import { api, take } from "#server/web/app/data/client.ts";
import { toProblem } from "#server/web/app/data/problem.ts";
import { toast } from "#server/web/app/ui/toast.tsx";

/** Switches to another workspace; the page reloads there, so that nothing of the former one is left. */
export async function switchWorkspace(workspaceId: string): Promise<void> {
  try {
    await take(api.POST("/api/session/workspace", { body: { workspaceId } }));
    window.location.assign("/");
  } catch (error) {
    toast(toProblem(error).message);
  }
}
