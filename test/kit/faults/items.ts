import { claiming, type Faults, naming, onItems } from "./plant.ts";

/** Faults in what an item is, and its content. */
export const ITEMS: Faults = {
  "versions are drawn again": {
    caughtBy: "repeatable",
    plant: (source) => {
      let drawn = 0;
      return onItems(source, (item) => ({ ...item, version: `v${++drawn}` }));
    },
  },
  "items have no version": {
    caughtBy: "full-sync",
    plant: (source) => onItems(source, ({ version: _version, ...item }) => item),
  },
  "a link is a script": {
    caughtBy: "urls",
    plant: (source) => onItems(source, (item) => ({ ...item, url: "javascript:alert(1)" })),
  },
  "a title is empty": {
    caughtBy: "odd-titles",
    plant: (source) => onItems(source, (item) => ({ ...item, title: item.title === "Untitled" ? "" : item.title })),
  },
  "content of anything": {
    caughtBy: "content",
    plant: () => ({
      fetchContent: async (_ctx, { externalId }) => ({ bytes: Buffer.from("text"), fileName: externalId }),
    }),
  },
  "content of paths that lead out": {
    caughtBy: "strange-content",
    plant: (source) => ({
      fetchContent: async (ctx, item) =>
        item.externalId.startsWith("../")
          ? { bytes: Buffer.from("root:x:0"), fileName: "passwd" }
          : source.fetchContent(ctx, item),
    }),
  },
  "content that is newer than its listing": {
    caughtBy: "content-version",
    plant: (source) => ({
      async fetchContent(ctx, item) {
        const { version: _version, ...content } = await source.fetchContent(ctx, item);
        return content;
      },
    }),
  },
  "newer content claims the version that was asked for": {
    caughtBy: "content-version",
    plant: (source) => claiming(source),
  },
  "newer content claims the version that was asked for, where kb says who may read": {
    caughtBy: "content-version",
    plant: (source) => ({
      ...onItems(source, naming("workspace")),
      ...claiming(source),
      spec: { ...source.spec, acl: "connector" },
    }),
  },
};
