import { makeSearchPool } from "#storage/index/read/pool.ts";
import { searchIndexContract } from "../search-index.contract.ts";
import { makeDocument, TestIndex } from "./world.ts";

searchIndexContract(async () => {
  const test = new TestIndex();
  const index = makeSearchPool({ file: test.file, size: 0, fold: async (workspaceId) => test.foldAll(workspaceId) });
  return {
    index,
    apply: async (workspaceId, changes) => test.apply(workspaceId, changes),
    access: async (workspaceId, aclId, lists) => test.access(workspaceId, aclId, lists),
    document: makeDocument,
    close: async () => {
      await index.close();
      test.close();
    },
  };
});
