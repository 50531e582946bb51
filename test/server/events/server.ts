import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { EventDelivery, EventTarget } from "#api/events.ts";
import type { OutgoingEvent } from "#api/events.ts";
import { makeAddressGuard } from "#net/address-guard.ts";
import { makeOutbox } from "#server/events/outbox.ts";
import { randomBytes } from "node:crypto";
import { composeFeatures } from "../../features.ts";
import { makeServer, type TestUser } from "../../helpers.ts";

/** A request as a receiver got it. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** How a receiver answers. `hang` = never. */
export type Answering = { status: number; headers?: Record<string, string>; body?: string } | "hang";

/** A receiver on loopback that keeps what it gets. */
export async function makeReceiver(answer: (request: Received) => Answering = () => ({ status: 204 })) {
  const received: Received[] = [];
  let answering = answer;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks).toString() };
      received.push(one);
      const how = answering(one);
      if (how === "hang") return;
      response.writeHead(how.status, how.headers);
      response.end(how.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    ids: () => received.map(({ headers }) => headers["webhook-id"]),
    answer: (next: typeof answer) => void (answering = next),
  };
}

export type Receiver = Awaited<ReturnType<typeof makeReceiver>>;

const CONNECTION = { connectionId: "cnx_2222222222222222", serverId: "srv_2222222222222222" };

/** The whole app, whose events can reach these hosts. Its clock shows the time of the machine, as receivers check it. */
export async function makeEventServer(
  hosts: readonly string[],
  lookup: (host: string) => Promise<{ address: string; family: number }[]> = async () => [],
) {
  const addressGuard = makeAddressGuard({ lookup, privateHosts: hosts, isOwn: () => false });
  const kb = await makeServer({ addressGuard, settings: { rateLimits: "off" } }, composeFeatures);
  kb.clock.advance(Date.now() - kb.clock.now());
  const owner = await kb.addOwner();
  const me = kb.as(owner);
  const emit = makeOutbox({ clock: kb.clock, randomBytes });

  return {
    ...kb,
    owner,
    me,
    /** An event that somebody noted. */
    emit: (event?: OutgoingEvent, user: TestUser = owner) =>
      kb.store.transaction((tx) =>
        emit(tx, user.workspaceId, event ?? { type: "connection.active", data: CONNECTION }),
      ),
    send: () => kb.deps.eventDelivery.runUntilIdle(),
    async target(url: string, body: Record<string, unknown> = {}): Promise<EventTarget & { secret: string }> {
      const { status, json, text } = await me.post("/api/webhooks", { url, ...body });
      if (status !== 201) throw new Error(text);
      return { ...json.target, secret: json.secret };
    },
    show: async (id: string): Promise<EventTarget> => (await me.get(`/api/webhooks/${id}`)).json.target,
    deliveries: async (id: string): Promise<EventDelivery[]> =>
      (await me.get(`/api/webhooks/${id}/deliveries?limit=200`)).json.deliveries,
  };
}
