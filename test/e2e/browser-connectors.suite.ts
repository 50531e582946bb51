/** What the page of a connector offers to those who own it and those who don't, against the built program. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { tempDir } from "../temp-dir.ts";
import { type OpenProfile, settle, signInQuietly } from "./browser.ts";
import { ADMIN, signInAdmin, startServerProcess } from "./server-process.ts";

const BEN = { email: "ben@acme.test", password: "green lamp evening" };

export function peopleKeepConnectors(openBrowser: OpenProfile): void {
  test("an admin keeps another's connector running and makes it less, and takes it over once its owner left", async ({
    expect,
  }) => {
    const dir = tempDir();
    for (const name of ["notes", "plans"]) {
      mkdirSync(join(dir, "docs", name), { recursive: true });
      writeFileSync(join(dir, "docs", name, "a.md"), `# The ${name}\n`);
    }
    const root = join(dir, "docs");
    const server = await startServerProcess(join(dir, "data"), { KB_LOCAL_ROOTS: root, KB_RATE_LIMITS: "off" });
    const admin = await signInAdmin(server.url);
    const invited = await admin("POST", "/api/workspace/invitations", { email: BEN.email, role: "admin" });
    const ben = await openBrowser(server.url);
    const token = String(invited.json.url).split("#token=")[1];
    const accepted = await ben.context.request.post("/api/invitations/accept", {
      data: { ...BEN, name: "Ben Ito", token },
    });
    expect(accepted.ok()).toBe(true);
    await signInQuietly(ben, BEN);
    const made = await ben.context.request.post("/api/connectors", {
      data: {
        providerId: "filesystem",
        name: "Docs",
        config: { root },
        scope: { include: ["notes/**", "plans/**"], exclude: [] },
        access: { visibility: "private" },
      },
    });
    const { connector } = await made.json();
    const path = `/workspace/connectors/${connector.id}`;
    await ben.open(path);
    await ben.page.getByRole("button", { name: "Change" }).click();
    await ben.page.getByRole("button", { name: "Review the change" }).waitFor();
    expect(await ben.page.getByText("who owns this connector").count()).toBe(0);

    const anna = await openBrowser(server.url);
    const { page, open, complaints } = anna;
    await signInQuietly(anna, ADMIN);
    await open(path);
    await page.getByText("Only Ben Ito, who owns this connector, can change its settings or readers.").waitFor();
    // Nothing that lets more people in is offered.
    expect(await page.getByLabel("Who can see it").locator("option").allTextContents()).toEqual(["Only its owner"]);
    for (const name of ["Sync now", "Pause", "Delete connector", "Save"]) {
      await page.getByRole("button", { name, exact: true }).waitFor();
    }
    // Leaving out is offered without a look into the source, and what includes more is refused beside it.
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await page.getByRole("group", { name: /^Include/ }).waitFor();
    await page.getByLabel("notes/**").uncheck();
    await page.getByLabel("plans/**").uncheck();
    await page.getByRole("button", { name: "Review the change" }).click();
    await page.getByRole("alert").getByText("Only Ben Ito, who owns this connector, can include more in it.").waitFor();
    await page.getByLabel("notes/**").check();
    await page.getByRole("button", { name: "Review the change" }).click();
    await page.getByRole("button", { name: "Save and sync" }).click();
    await page.getByText("Saved. A sync applies it.").waitFor();

    // What its owner paused, its owner resumes.
    await ben.open(path);
    await ben.page.getByRole("button", { name: "Pause", exact: true }).click();
    await ben.page.getByText("Docs paused").waitFor();
    await open(path);
    await page.getByText("Only Ben Ito, who owns this connector, can resume it after pausing it.").waitFor();
    expect(await page.getByRole("button", { name: "Resume" }).count()).toBe(0);

    const member = `/api/workspace/members/${connector.owner.id}`;
    expect(await page.evaluate(`fetch("${member}", { method: "DELETE" }).then(({ status }) => status)`)).toBe(204);
    await open(path);
    await page.getByText("If you couldn't see this connector before").waitFor();
    await page.getByRole("button", { name: "Take over" }).click();
    await page.getByText("You own Docs now").waitFor();
    await settle(page);
    await page.getByRole("button", { name: "Take over" }).waitFor({ state: "detached" });
    expect(await page.getByText("can change its settings or readers").count()).toBe(0);
    expect(await page.getByLabel("Who can see it").locator("option").count()).toBe(3);
    expect([...ben.complaints, ...complaints]).toEqual([]);
  });
}
