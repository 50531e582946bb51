import type { WebhookChange, WebhookRequest } from "#sources/webhook.ts";
import type { SourceCheck } from "./check.ts";
import { contextOf, type KitFixture } from "./fixture.ts";

type Verify = (
  secret: string,
  request: WebhookRequest,
) => ReturnType<NonNullable<KitFixture["source"]["webhook"]>["verify"]>;

export const webhook: SourceCheck = {
  id: "webhook",
  title: "a notification that is signed tells of its change, and one that is not is refused",
  needs: "notification",
  async run({ source, ...fixture }) {
    if (!source.webhook || !fixture.notification) return [];
    // A throw is a refusal to the server.
    const verify: Verify = (...said) => {
      try {
        return source.webhook?.verify(...said) ?? "refused";
      } catch {
        return "refused";
      }
    };
    const faults: string[] = [];
    const deliveries: (string | undefined)[] = [];
    for (let times = 0; times < 2; times++) {
      const externalId = await fixture.edit();
      const { secret, request, named = externalId } = await fixture.notification(externalId);
      const said = verify(secret, request);
      if (said === "refused") return ["A signed notification was refused."];
      if (!said.changes.some((change) => tells(change, named)))
        faults.push(`The notification of ${named} tells of ${JSON.stringify(said.changes)}.`);
      deliveries.push(said.delivery);
      const again = verify(secret, request);
      if (again === "refused" || again.delivery !== said.delivery)
        faults.push("The same notification was another one the second time.");
      for (const [what, wrong] of wrongOnes(secret, request)) {
        if (verify(...wrong) !== "refused") faults.push(`A notification ${what} was accepted.`);
      }
    }
    const [first, second] = deliveries;
    if (first !== undefined && first === second)
      faults.push("Two notifications count as one: the second wakes no one.");
    return faults;
  },
};

export const subscription: SourceCheck = {
  id: "subscription",
  title: "a subscription notifies this server until it is ended, and one that is ended twice is no failure",
  async run(fixture) {
    const { subscribe, unsubscribe } = fixture.source.webhook ?? {};
    if (!subscribe || !fixture.subscriptions) return [];
    if (!unsubscribe) return ["The source subscribes, and never unsubscribes."];
    const ctx = contextOf(fixture);
    const to = { url: "https://kb.test/hooks/kit/con_aaaaaaaaaaaaaaaa", secret: "kb-canary-hook-57b3" };
    const faults: string[] = [];
    const expect = async (isThere: boolean, when: string) => {
      const found = (await fixture.subscriptions?.())?.some(({ url }) => url === to.url) === true;
      if (found !== isThere) faults.push(`${when} the remote ${found ? "notifies" : "does not notify"} this server.`);
    };
    const made = [await subscribe(ctx, to), await subscribe(ctx, to)];
    await expect(true, "Once subscribed,");
    const [first, second] = made.map((each) => JSON.stringify(each?.data));
    for (const each of made) {
      if (JSON.stringify(each)?.includes(to.secret)) faults.push("The subscription holds the secret.");
      if (each?.expiresAt !== undefined && each.expiresAt <= ctx.now())
        faults.push("A new subscription is over already.");
    }
    if (first !== second) {
      await unsubscribe(ctx, made[0]?.data);
      await expect(true, "Once a former subscription is ended,");
    }
    await unsubscribe(ctx, made[1]?.data);
    await expect(false, "Once the last subscription is ended,");
    await unsubscribe(ctx, made[1]?.data);
    return faults;
  },
};

/** Whether the run that the change asks for would show the item: that of a container or of everything does. */
function tells(change: WebhookChange, externalId: string): boolean {
  if (change.t === "items") return change.externalIds.includes(externalId);
  return change.t === "delta" || (change.t === "containers" && change.containers.length > 0);
}

/** What somebody sends who does not know the secret. */
function wrongOnes(secret: string, request: WebhookRequest): [string, [string, WebhookRequest]][] {
  const rawBody = Uint8Array.from(request.rawBody);
  // Some apps send no body.
  const hasBody = rawBody.length > 0;
  const middle = Math.floor(rawBody.length / 2);
  rawBody[middle] = (rawBody[middle] ?? 0) ^ 1;
  const bodies: [string, [string, WebhookRequest]][] = [
    ["whose body was changed", [secret, { ...request, rawBody }]],
    ["without a body", [secret, { ...request, rawBody: new Uint8Array() }]],
  ];
  return [
    ["signed with another secret", [`${secret}x`, request]],
    ["signed with no secret", ["", request]],
    [
      "with more behind its body",
      [secret, { ...request, rawBody: Buffer.concat([request.rawBody, Buffer.from(" ")]) }],
    ],
    ["without headers", [secret, { ...request, headers: new Headers() }]],
    ...(hasBody ? bodies : []),
  ];
}
