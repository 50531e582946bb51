import { answer, createRoute, problemAnswer, z } from "./route.ts";

const Status = z.object({ status: z.literal("ok") }).openapi("Status");

/** What a supervisor asks; no versions, no names. */
export const operationRoutes = {
  health: createRoute({
    method: "get",
    path: "/healthz",
    summary: "Is the process alive?",
    responses: { 200: answer("It is", Status), default: problemAnswer },
  }),
  readiness: createRoute({
    method: "get",
    path: "/readyz",
    summary:
      "Can it answer requests? 503 while it starts or shuts down, its disk is full, or its database can't be used",
    responses: { 200: answer("It can", Status), default: problemAnswer },
  }),
};
