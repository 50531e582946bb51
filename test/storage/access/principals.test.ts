/** The small rules below the policy: who stands above whom, who acts as an admin, and how groups of connectors are named. */
import { test } from "vitest";
import type { Role } from "#api/common.ts";
import { actsAsAdmin } from "#storage/access/actor.ts";
import { connectionPrincipal, connectorPrincipal, groupsAlways, isConnectorList } from "#storage/access/item-clocks.ts";
import { isAbove, requireAbove } from "#storage/access/ladder.ts";
import { listDigest } from "#storage/access/list-digest.ts";

const ROLES: Role[] = ["owner", "admin", "member"];

test("an owner stands above everyone, an admin above members only, a member above no one", ({ expect }) => {
  const above = ROLES.map((role) => ROLES.map((other) => isAbove(role, other)));
  expect(above).toEqual([
    [true, true, true],
    [false, false, true],
    [false, false, false],
  ]);
  for (const role of ROLES) {
    for (const other of ROLES) {
      const require = () => requireAbove({ role }, other);
      if (isAbove(role, other)) expect(require).not.toThrow();
      else expect(require).toThrow(`Only the owner of the workspace can do this with the role ${other}.`);
    }
  }
});

test("an admin is who has the role now and a credential for it", ({ expect }) => {
  const acts = (role: Role, ...scopes: ("kb:admin" | "kb:api")[]) => actsAsAdmin({ role, scopes });
  expect(ROLES.map((role) => acts(role, "kb:api", "kb:admin"))).toEqual([true, true, false]);
  expect(ROLES.map((role) => acts(role, "kb:api"))).toEqual([false, false, false]);
});

test("the list of whom a connector is for is known with and without an instant, and no other list is", ({ expect }) => {
  const plain = connectorPrincipal("con_a");
  expect([plain, connectorPrincipal("con_a", 0), connectorPrincipal("con_a", 7)]).toEqual([
    "group:connector:con_a",
    "group:connector:con_a:0",
    "group:connector:con_a:7",
  ]);
  for (const list of [[plain], [connectorPrincipal("con_a", 7)]]) expect(isConnectorList(list, "con_a")).toBe(true);
  const others = [
    [],
    [plain, "everyone"],
    ["everyone"],
    [connectorPrincipal("con_ab")],
    [connectorPrincipal("con_b", 7)],
  ];
  for (const list of others) expect([list, isConnectorList(list, "con_a")]).toEqual([list, false]);
});

test("every access asks for the connector's people, and for the connection's where there is one", ({ expect }) => {
  expect(groupsAlways({ connectorId: "con_a", connectionId: null })).toEqual(["group:connector:con_a"]);
  expect(groupsAlways({ connectorId: "con_a", connectionId: "cxn_b" })).toEqual([
    "group:connector:con_a",
    connectionPrincipal("cxn_b"),
  ]);
  expect(connectionPrincipal("cxn_b")).toBe("group:connection:cxn_b");
});

test("the digest of a list is the number that databases hold", ({ expect }) => {
  expect(listDigest("wsp_a", "everyone")).toBe(209_443_165_913_162);
  expect(listDigest("wsp_a", "everyone")).not.toBe(listDigest("wsp_b", "everyone"));
});
