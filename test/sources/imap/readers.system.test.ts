import { describe, expect, onTestFinished, test } from "vitest";
import type { Source } from "#sources/contract.ts";
import { makeImapSource } from "#sources/imap/index.ts";
import { AT_EACH_PAGE } from "../../kit/fixture.ts";
import { openReaders } from "../own-readers.ts";
import { canRunDovecot, startDovecot } from "./dovecot.ts";
import { PERSON } from "./server.ts";

const mail = (n: number) => `Message-ID: <n${n}@one.test>
From: Bo <bo@two.test>
To: Anna <anna@one.test>
Date: Mon, 5 Jan 2026 10:00:00 +0000
Subject: Subject ${n}
Content-Type: text/plain; charset=utf-8

words of ${n}
`;

describe.skipIf(!canRunDovecot())("imap in the server, with a real server", { timeout: 240_000 }, () => {
  test("only its owner finds a mailbox, at any time: during the first run, whatever is shared, and after 26 hours", async () => {
    const dovecot = await startDovecot();
    onTestFinished(() => dovecot.stop());
    const names = [1, 2, 3, 4, 5].map((n) => dovecot.deliver("", mail(n)));
    dovecot.deliver("Work", mail(6));
    dovecot.deliver("Trash", mail(7));
    // Its configurations were parsed by its own schema.
    const source = makeImapSource({ batching: { messages: 2 }, checkpoints: AT_EACH_PAGE }) as unknown as Source;
    const world = await openReaders({
      source,
      connect: async () => ({
        by: "reader",
        body: { config: { host: "127.0.0.1", port: dovecot.port, tls: false }, credentials: PERSON },
      }),
      list: async () => dovecot.list(),
    });
    const { must, connectorId, userOf, groupId } = world;
    world.breakOff(true);
    await world.work();
    expect((await world.runs())[0]).toMatchObject({ state: "waiting" });
    expect((await world.rows()).length).toBeLessThan(6);
    await world.expectShown(["reader"], { isWhole: false });
    world.breakOff(false);
    await world.pass(1);
    await world.expectShown(["reader"]);

    // Whatever the connector is shared with: its messages are for the one person.
    for (const access of [
      { visibility: "members", memberIds: [userOf("outsider").userId], groupIds: [groupId] },
      { visibility: "private" },
      { visibility: "workspace" },
    ]) {
      await must("reader", "PATCH", `/api/connectors/${connectorId}`, { access });
      await world.work();
      await world.expectShown(["reader"]);
    }

    dovecot.deliver("", mail(8));
    dovecot.deliver("Since", mail(9));
    dovecot.move(names[0] ?? "", "", "Work");
    dovecot.move(names[1] ?? "", "", "Trash");
    dovecot.remove(names[2] ?? "", "");
    await world.pass(26);
    await world.expectShown(["reader"]);
    expect(await world.rows()).toHaveLength(6);
    dovecot.renumber("");
    await world.pass(26);
    await world.expectShown(["reader"]);

    await must("owner", "DELETE", `/api/workspace/members/${userOf("reader").userId}`);
    await world.expectShown([], { isWhole: false });
    await world.pass(2);
    await world.expectShown([], { isWhole: false });
  });
});
