import { test } from "vitest";
import { makeFront } from "#server/web/front.ts";
import { makeServer } from "../../helpers.ts";

test("the way in leads a new installation to its setup, then who is signed out to the sign-in, else inside", async ({
  expect,
}) => {
  const kb = await makeServer();
  const front = makeFront(kb.deps);
  const cookie = (secret: string) => `theme=dark; ${kb.deps.cookie.name}=${secret}`;
  expect([await front(undefined), await front(cookie("made-up"))]).toEqual(["/welcome", "/welcome"]);
  await kb.deps.onboarding.bootstrap({ email: "anna@acme.test", password: "blue kettle morning" });
  expect([await front(undefined), await front(cookie("made-up"))]).toEqual(["/sign-in", "/sign-in"]);
  const ana = await kb.addOwner();
  expect(await front(cookie(ana.sessionSecret))).toBe("/search");
  await kb.as(ana).delete("/api/session");
  expect(await front(cookie(ana.sessionSecret))).toBe("/sign-in");
});

test("where no one sets anything up, as on a managed server, it leads to the sign-in", async ({ expect }) => {
  const kb = await makeServer({ settings: { mode: "managed", signup: "open" } });
  expect(await makeFront(kb.deps)(undefined)).toBe("/sign-in");
});
