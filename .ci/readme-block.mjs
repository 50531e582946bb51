// Prints the n-th `sh` block of the README, so that what is checked is what people are told to type.
import { readFileSync } from "node:fs";

const wanted = Number(process.argv[2]);
const blocks = [
  ...readFileSync(new URL("../README.md", import.meta.url), "utf8").matchAll(/^```sh\n([\s\S]*?)^```$/gm),
];
const block = blocks[wanted - 1]?.[1];
if (block === undefined) {
  process.stderr.write(`The README has ${blocks.length} sh blocks; number ${wanted} was asked for.\n`);
  process.exit(1);
}
process.stdout.write(block);
