import { answer, get, z } from "./route.ts";

const Status = z.object({ status: z.literal("ok") }).openapi("Status");

/** Routes for a process supervisor. Their answers contain no versions and no names. */
export const operationRoutes = {
  health: get("/healthz", "Check that the process is alive", {
    200: answer("It is", Status),
  }),
  readiness: get(
    "/readyz",
    "Check that the server can answer requests; 503 while it starts or shuts down, while its disk is full, or when it can't use its database",
    {
      200: answer("It can", Status),
    },
  ),
};
