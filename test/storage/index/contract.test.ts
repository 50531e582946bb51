import { makeSearchPool } from "#storage/index/read/pool.ts";
import { searchIndexContract } from "../search-index.contract.ts";
import { makeDocument, TestIndex } from "./world.ts";

searchIndexContract(async () => {
  const test = new TestIndex();
  const index = makeSearchPool({ file: test.file, size: 0 });
  return {
    index,
    transaction: async (work) => test.transaction(() => work(test.writer)),
    upkeep: async (workspaceId) => test.compactAll(workspaceId),
    access: async (workspaceId, aclId, lists) => test.access(workspaceId, aclId, lists),
    document: makeDocument,
    close: async () => {
      await index.close();
      test.close();
    },
  };
});
