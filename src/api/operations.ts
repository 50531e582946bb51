import { answer, createRoute, problemAnswer, z } from "./route.ts";

const Status = z.object({ status: z.literal("ok") }).openapi("Status");

/** Routes for a supervisor; no versions, no names. */
export const operationRoutes = {
  health: createRoute({
    method: "get",
    path: "/healthz",
    summary: "Check that the process is alive",
    responses: { 200: answer("It is", Status), default: problemAnswer },
  }),
  readiness: createRoute({
    method: "get",
    path: "/readyz",
    summary:
      "Check that the server can answer requests; 503 while it starts or shuts down, while its disk is full, or when it can't use its database",
    responses: { 200: answer("It can", Status), default: problemAnswer },
  }),
};
