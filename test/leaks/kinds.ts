/** The kinds of apps, each as a remote of its own with its real source: what the kit has of each. */
import { onTestFinished } from "vitest";
import type { KitFixture } from "../kit/fixture.ts";
import { openSite as openConfluence } from "../sources/confluence/fixture.ts";
import { makeDriveFixture } from "../sources/google-drive/fixture.ts";
import { makeImapFixture } from "../sources/imap/fixture.ts";
import { openSite as openJira } from "../sources/jira/fixture.ts";
import { openNotion } from "../sources/notion/fixture.ts";
import { makeS3Fixture } from "../sources/s3/fixture.ts";
import { makeSlackFixture } from "../sources/slack/fixture.ts";
import { CREDENTIALS, makeWebFixture } from "../sources/web/fixture.ts";
import { startSite } from "../sources/web/site.ts";

export interface Kind {
  name: string;
  open(): Promise<KitFixture>;
}

/** Over fakes that start no program. */
export const IN_PROCESS: readonly Kind[] = [
  { name: "google-drive", open: () => makeDriveFixture() },
  { name: "slack", open: () => makeSlackFixture() },
  { name: "confluence", open: async () => (await openConfluence("cloud")).fixture },
  { name: "jira", open: async () => (await openJira("cloud")).fixture },
  { name: "notion", open: async () => (await openNotion()).fixture },
  { name: "s3", open: () => makeS3Fixture() },
  { name: "imap", open: () => makeImapFixture() },
  {
    name: "web",
    async open() {
      const site = await startSite(CREDENTIALS);
      onTestFinished(() => site.stop());
      return makeWebFixture(site, "crawl");
    },
  },
];

/** The other deployments of those that have two. */
export const DATA_CENTERS: readonly Kind[] = [
  { name: "confluence", open: async () => (await openConfluence("data_center")).fixture },
  { name: "jira", open: async () => (await openJira("data_center")).fixture },
];
