import { openTestStore } from "../../helpers.ts";
import { describeQueue } from "../queue.contract.ts";

describeQueue("SQLite", async () => (await openTestStore()).store.queue);
