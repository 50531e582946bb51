/**
 * Webhooks that apps call when something has changed there. They are authenticated by the signature, which each source
 * checks.
 */
import { createRoute, problemAnswer, z } from "./route.ts";

// Any text: an invalid id is answered like an unknown one.
const ByProvider = z.object({ providerId: z.string() });
const ByConnector = ByProvider.extend({ connectorId: z.string() });
const notification = { content: { "*/*": { schema: z.string() } } } as const;
const responses = {
  200: {
    description: "Accepted; if the app sent a challenge, the answer to it",
    content: { "*/*": { schema: z.string() } },
  },
  default: problemAnswer,
} as const;

export const hookRoutes = {
  app: createRoute({
    method: "post",
    path: "/hooks/{providerId}",
    summary: "Receive an app's notification for all connectors of one installation; a wrong signature returns 404",
    request: { params: ByProvider, body: notification },
    responses,
  }),
  connector: createRoute({
    method: "post",
    path: "/hooks/{providerId}/{connectorId}",
    summary: "Receive an app's notification for one connector; a wrong signature returns 404",
    request: { params: ByConnector, body: notification },
    responses,
  }),
};
